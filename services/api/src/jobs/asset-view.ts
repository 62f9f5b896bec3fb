import { shortCodeOfKey } from '@pasteflow/domain';
import type { AssetRow } from '@pasteflow/postgres';
import type { ObjectStore } from '@pasteflow/s3';
import { z } from 'zod';
import { instant, uuid } from '../openapi/formats.ts';
import { example } from './example.ts';

export const assetSchema = z
  .object({
    id: uuid,
    url: z.url().meta({
      description:
        'Where its content is: of a paste its URL, of anything else one that is good for some minutes.',
    }),
    asset_type: z.string(),
    file_size: z.int().min(0).meta({ description: 'Bytes.' }),
    created_at: instant,
  })
  .meta({
    id: 'Asset',
    description: 'A result that a job made.',
    examples: [
      {
        id: example.assetId,
        url: 'https://paste.example.org/q7Zk2Lm9Xa',
        asset_type: 'paste',
        file_size: 14,
        created_at: example.completedAt.toISOString(),
      },
    ],
  });

export type AssetView = Readonly<z.output<typeof assetSchema>>;

export interface AssetUrlDependencies {
  readonly store: Pick<ObjectStore, 'presign'>;
  /** For how long a presigned URL is good. */
  readonly assetUrlSeconds: number;
  readonly publicUrl: () => string;
}

export async function viewOfAsset(
  asset: AssetRow,
  jobType: string,
  deps: AssetUrlDependencies,
): Promise<AssetView> {
  return {
    id: asset.id,
    url: await urlOf(asset, jobType, deps),
    asset_type: asset.asset_type,
    file_size: Number(asset.file_size),
    created_at: asset.created_at.toISOString(),
  };
}

/** A paste is read through the api, which knows whether it has expired and whose it is; any other object straight from S3. */
async function urlOf(
  asset: AssetRow,
  jobType: string,
  { store, assetUrlSeconds, publicUrl }: AssetUrlDependencies,
): Promise<string> {
  const shortCode = shortCodeOfKey(asset.storage_path);
  if (shortCode !== null) return `${publicUrl()}/${shortCode}`;
  const day = asset.created_at.toISOString().slice(0, 10);
  return await store.presign(asset.storage_path, {
    expiresInSeconds: assetUrlSeconds,
    downloadName: `pasteflow-${jobType}-${day}${extensionOf(asset.storage_path)}`,
  });
}

/** All of them, `.tar.gz` too: the name of a job's object is its execution's id, which has no dot. */
function extensionOf(storagePath: string): string {
  return /[^/.]*(\.[^/]*)?$/.exec(storagePath)?.[1] ?? '';
}
