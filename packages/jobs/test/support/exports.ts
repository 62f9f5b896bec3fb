import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { readArchive } from '../../src/types/import/open-input.ts';
import { assetsOf } from './attempts.ts';
import type { World } from './world.ts';

interface Archive {
  readonly key: string;
  readonly bytes: Buffer;
}

/** The only archive of a job. */
export async function archiveOf(world: World, jobId: string): Promise<Archive> {
  const [archive, ...more] = await archivesOf(world, jobId);
  if (archive === undefined || more.length > 0) throw new Error('the job has not one archive');
  return archive;
}

/** The archives of a job, whose numbers are in their order. */
export async function archivesOf(world: World, jobId: string): Promise<Archive[]> {
  const archives: Archive[] = [];
  for (const { storage_path: key, file_size: size, asset_type: type, url, number } of await assetsOf(
    world,
    jobId,
  )) {
    const object = await world.store.get(key);
    const bytes = await buffer(object!.body);
    if (type !== 'archive' || Number(size) !== bytes.length || url !== `s3://pasteflow/${key}`)
      throw new Error(`the asset is ${type}, ${size} bytes instead of ${bytes.length}, at ${url}`);
    archives.push({ key, bytes });
    if (number !== archives.length) throw new Error(`archive ${archives.length} has the number ${number}`);
  }
  return archives;
}

/** The short codes in each archive of a job, of NDJSON. */
export async function codesIn(world: World, jobId: string): Promise<string[][]> {
  const archives = await archivesOf(world, jobId);
  return archives.map(({ bytes }) => linesIn(bytes).map(({ short_code: code }) => String(code)));
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
