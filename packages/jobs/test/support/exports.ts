import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { readArchive } from '../../src/types/import/source/read-archive.ts';
import { assetsOf } from './attempts.ts';
import type { World } from './world.ts';

/** The only archive of a job. */
export async function archiveOf(world: World, jobId: string): Promise<{ key: string; bytes: Buffer }> {
  const assets = await assetsOf(world, jobId);
  if (assets.length !== 1) throw new Error(`the job has ${assets.length} assets`);
  const [{ storage_path: key, file_size: size, asset_type: type, url }] = assets as [(typeof assets)[0]];
  const object = await world.store.get(key);
  const bytes = await buffer(object!.body);
  if (type !== 'archive' || Number(size) !== bytes.length || url !== `s3://pasteflow/${key}`)
    throw new Error(`the asset is ${type}, ${size} bytes instead of ${bytes.length}, at ${url}`);
  return { key, bytes };
}

/** The SHA-256 of each file in an archive, by name. */
export async function filesIn(format: 'zip' | 'tar.gz', archive: Buffer): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  const { signal } = new AbortController();
  for await (const { name, content } of readArchive(format, archive, { maxKeptBytes: Infinity, signal }))
    files[name] = sha256(content as Buffer);
  return files;
}

export function linesIn(archive: Buffer): Record<string, unknown>[] {
  return archive
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

export function sha256(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex');
}
