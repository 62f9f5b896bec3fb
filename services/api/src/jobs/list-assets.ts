import { listAssets as findAssets, type Database } from '@pasteflow/postgres';
import { z } from 'zod';
import { limitField, nextCursor, nextCursorOf, pageFields, pageRequestOf } from '../http/request/paging.ts';
import { readQuery } from '../http/request/query.ts';
import type { Endpoint } from '../openapi/endpoint.ts';
import { jsonResponse } from '../openapi/formats.ts';
import { assetSchema, viewOfAsset, type AssetUrlDependencies } from './asset-view.ts';
import { findErrors, findNamedJobBrief, namedJob } from './find-named-job.ts';

/** The default and the maximum of a page, for most jobs all. An import creates up to 10,000. */
const ASSET_PAGE_SIZE = 1000;

const query = z.strictObject({
  ...pageFields,
  limit: limitField({ standard: ASSET_PAGE_SIZE, max: ASSET_PAGE_SIZE }),
});

const listSchema = z
  .object({ assets: z.array(assetSchema), next_cursor: nextCursor })
  .meta({ id: 'AssetList', description: 'A page of assets, newest first.' });

/** GET /v1/jobs/:id/assets: the assets that a job has created so far. */
export function listAssets({ db, ...urls }: AssetUrlDependencies & { db: Database }): Endpoint {
  return {
    operation: {
      operationId: 'listAssets',
      tag: 'jobs',
      access: 'user',
      summary: 'Lists the assets of a job, newest first.',
      params: { path: namedJob, query },
      answers: { 200: jsonResponse('A page of assets.', listSchema) },
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
