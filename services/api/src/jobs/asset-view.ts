import { shortCodeOfKey } from '@pasteflow/domain';
import type { AssetRow } from '@pasteflow/postgres';
import type { ObjectStore } from '@pasteflow/s3';
import { z } from 'zod';
import { instant, uuid } from '../openapi/formats.ts';
import { example } from './job-view.ts';

export const assetSchema = z
  .object({
    id: uuid,
    url: z.url().meta({
      description:
        'The URL of the content: of a paste its permanent URL, of any other asset a URL that is valid for some minutes.',
    }),
    asset_type: z.string(),
    file_size: z.int().min(0).meta({ description: 'In bytes.' }),
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
        file_size: 14,
        created_at: example.completedAt.toISOString(),
      },
    ],
  });

export type AssetView = Readonly<z.output<typeof assetSchema>>;

export interface AssetUrlDependencies {
  readonly store: Pick<ObjectStore, 'presign'>;
  /** How long a presigned URL is valid. */
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

/** A paste is read through the api, which checks who reads it. Any other object comes from S3. */
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

/** The whole extension, such as `.tar.gz`: the id before it has no dot. */
function extensionOf(storagePath: string): string {
  const [, ...extensions] = (storagePath.split('/').at(-1) ?? '').split('.');
  return extensions.map((extension) => `.${extension}`).join('');
}
