import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { jobKeyPrefix } from '@pasteflow/domain';
import { listAssets } from '@pasteflow/postgres';
import type * as kit from '@pasteflow/job';
import { runJobType } from '@pasteflow/job/host';
import type { z } from 'zod';
import type { JobContext, JobType } from '../job-type.ts';
import { readPaste } from '../read-content.ts';

type Context = JobContext<z.output<z.ZodType>>;

/** A job type of an operator's own as one of the services, which gives it no database and no other key. */
export function fromOwn(own: kit.JobType): JobType {
  return {
    name: own.name,
    summary: own.summary,
    parameters: own.parameters,
    example: own.example,
    ...(own.contentParameters && { contentParameters: own.contentParameters }),
    ...(own.maxOpen !== undefined && { maxOpen: own.maxOpen }),
    readShortCodes: (parameters) => own.readShortCodes?.(parameters) ?? [],
    run: async (context) => {
      const { jobId, userId, parameters, signal, stopping, logger, progress, services } = context;
      return await runJobType(own, {
        jobId,
        userId,
        parameters,
        signal,
        stopping,
        log: logger,
        progress,
        listAssets: async () =>
          (await assetsOf(context)).map(({ key, type, bytes }) => ({ name: nameOf(key), type, bytes })),
        readAsset: (name) => readAsset(context, name),
        storeAsset: (asset) => storeAsset(context, asset),
        readAnyPaste: async (shortCode) => {
          const found = await readPaste(services, { shortCode, userId, signal });
          if (found.kind === 'content') return found;
          return { kind: 'refused', reason: `The paste ${shortCode} ${refusals[found.kind]}.` };
        },
      });
    },
  };
}

const refusals = {
  not_found: 'does not exist',
  gone: 'has expired or was deleted',
  held: 'is held until an operator has judged its reports',
  burns: 'is deleted when it is read',
} as const;

const ASSETS_A_PAGE = 1000;

/** In the order of their creation. */
async function assetsOf({ jobId, services }: Context) {
  const assets: { key: string; type: string; bytes: number }[] = [];
  for (let after = null as Parameters<typeof listAssets>[2]['after']; ;) {
    const { rows, next } = await listAssets(services.db, jobId, { limit: ASSETS_A_PAGE, after });
    for (const { storage_path: key, asset_type: type, file_size: bytes } of rows)
      assets.push({ key, type, bytes: Number(bytes) });
    if (next === null) return assets.toReversed();
    after = next;
  }
}

const nameOf = (key: string): string => key.slice(key.lastIndexOf('/') + 1);

async function readAsset(context: Context, name: string): Promise<Buffer | null> {
  const { services, signal } = context;
  const found = (await assetsOf(context)).find(({ key }) => nameOf(key) === name);
  if (found === undefined) return null;
  const object = await services.store.get(found.key, { signal });
  return object === null ? null : await buffer(object.body);
}

/** The key contains the execution, so that a worker that lost the job overwrites nothing. */
async function storeAsset(context: Context, asset: Required<kit.NewAsset>): Promise<void> {
  const { jobId, executionId, signal, services, createAsset } = context;
  const { name, type: assetType, content } = asset;
  const storagePath = `${jobKeyPrefix(jobId)}${executionId}/${name}`;
  let fileSize: number;
  if (typeof content === 'string' || content instanceof Uint8Array) {
    const bytes = Buffer.from(content as Uint8Array);
    fileSize = bytes.length;
    await services.store.put(storagePath, bytes, { sha256: hash('sha256', bytes, 'buffer'), signal });
  } else {
    const contentType = 'application/octet-stream';
    fileSize = await services.store.putStream(storagePath, Readable.from(content), { contentType, signal });
  }
  await createAsset({ assetType, storagePath, fileSize });
}
