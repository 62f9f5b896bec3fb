import { listAssets as findAssets, type Database } from '@pasteflow/postgres';
import { z } from 'zod';
import {
  limitField,
  nextCursor,
  nextCursorOf,
  pageFields,
  pageRequestOf,
} from '../http/paging/page-query.ts';
import { readQuery } from '../http/request/query.ts';
import type { Endpoint } from '../openapi/endpoint.ts';
import { assetSchema, viewOfAsset, type AssetUrlDependencies } from './asset-view.ts';
import { findErrors, findNamedJobBrief, namedJob } from './find-named-job.ts';

/** A page of assets, unless told and at most: most jobs' assets are one page, and an import makes up to 10,000. */
const ASSET_PAGE_SIZE = 1000;

const query = z.strictObject({ ...pageFields, limit: limitField(ASSET_PAGE_SIZE, ASSET_PAGE_SIZE) });

const listSchema = z
  .object({ assets: z.array(assetSchema), next_cursor: nextCursor })
  .meta({ id: 'AssetList', description: 'A page of assets, newest first.' });

/** GET /v1/jobs/:id/assets: J7. What the job has made so far. */
export function listAssets({ db, ...urls }: AssetUrlDependencies & { db: Database }): Endpoint {
  return {
    operation: {
      operationId: 'listAssets',
      tag: 'jobs',
      access: 'user',
      summary: 'Lists what a job has made so far, newest first.',
      params: { path: namedJob, query },
      answers: { 200: { description: 'A page.', content: { 'application/json': { schema: listSchema } } } },
      errors: [...findErrors, 'validation_failed'],
    },
    handle: async (req, res) => {
      const page = pageRequestOf(readQuery(req, query));
      const { id, job_type: jobType } = await findNamedJobBrief(db, req);
      const found = await findAssets(db, id, page);
      res.json({
        assets: await Promise.all(found.rows.map((asset) => viewOfAsset(asset, jobType, urls))),
        next_cursor: nextCursorOf(found),
      } satisfies z.output<typeof listSchema>);
    },
  };
}
