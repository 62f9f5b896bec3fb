import { shortCodeOfKey } from '@pasteflow/domain';
import { jobTypes } from '@pasteflow/jobs';
import { type AssetRow, listAssets as findAssets } from '@pasteflow/postgres';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { limitField, nextCursor, nextCursorOf, pageFields, pageRequestOf } from '../http/request/paging.ts';
import { readQuery } from '../http/request/query.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { instant, jsonResponse, uuid } from '../http/openapi/formats.ts';
import { findErrors, findNamedJobBrief, namedJob } from './find-named-job.ts';
import { example } from './job-view.ts';

const assetSchema = z
  .object({
    id: uuid,
    url: z.url().meta({
      description:
        'The URL of the content: of a paste its permanent URL, of any other asset a URL that is valid for some minutes.',
    }),
    asset_type: z.string(),
    name: z.string().nullable().meta({
      description:
        "The name that a job type of the operator's own has given. Null: a paste, or an archive of an export.",
    }),
    file_size: z.int().min(0).meta({ description: 'In bytes.' }),
    number: z.int().min(1).nullable().meta({
      description:
        'The number of an archive of an export, from 1. Each is complete in itself. Null: no archive.',
    }),
    created_at: instant,
  })
  .meta({
    id: 'Asset',
    description: 'An asset: a paste or a file that a job created.',
    examples: [
      {
        id: example.assetId,
        url: 'https://paste.example.org/q7Zk2Lm9Xa',
        asset_type: 'paste',
        name: null,
        file_size: 14,
        number: null,
        created_at: example.completedAt.toISOString(),
      },
    ],
  });

export type AssetView = Readonly<z.output<typeof assetSchema>>;

export async function viewOfAsset(asset: AssetRow, jobType: string, api: ApiContext): Promise<AssetView> {
  return {
    id: asset.id,
    url: await urlOf(asset, jobType, api),
    asset_type: asset.asset_type,
    name: nameOf(asset, jobType),
    file_size: Number(asset.file_size),
    number: asset.number,
    created_at: asset.created_at.toISOString(),
  };
}

/** A paste is read through the api, which checks who reads it. Any other object comes from S3. */
async function urlOf(
  asset: AssetRow,
  jobType: string,
  { store, assetUrlSeconds, publicUrl }: ApiContext,
): Promise<string> {
  const shortCode = shortCodeOfKey(asset.storage_path);
  if (shortCode !== null) return `${publicUrl()}/${shortCode}`;
  const day = asset.created_at.toISOString().slice(0, 10);
  return await store.presign(asset.storage_path, {
    expiresInSeconds: assetUrlSeconds,
    downloadName:
      nameOf(asset, jobType) ??
      `pasteflow-${jobType}-${day}${nameSuffixOf(asset)}${extensionOf(asset.storage_path)}`,
  });
}

/** The keys of the other assets have no names, but ids. */
function nameOf({ storage_path: path }: AssetRow, jobType: string): string | null {
  return jobTypes.has(jobType) ? null : (path.split('/').at(-1) ?? null);
}

/** The archives of an export have different names; most exports have one. */
function nameSuffixOf({ number }: AssetRow): string {
  return number === null || number === 1 ? '' : `-${number}`;
}

/** The whole extension, such as `.tar.gz`: the id before it has no dot. */
function extensionOf(storagePath: string): string {
  const [, ...extensions] = (storagePath.split('/').at(-1) ?? '').split('.');
  return extensions.map((extension) => `.${extension}`).join('');
}

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
export function listAssets(api: ApiContext): Endpoint {
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
      const { id, job_type: jobType } = await findNamedJobBrief(api.db, req);
      const found = await findAssets(api.db, id, page);
      res.json({
        assets: await Promise.all(found.rows.map((asset) => viewOfAsset(asset, jobType, api))),
        next_cursor: nextCursorOf(found),
      } satisfies z.output<typeof listSchema>);
    },
  };
}
