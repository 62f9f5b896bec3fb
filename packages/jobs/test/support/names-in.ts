import { readArchive } from '../../src/types/import/open-input.ts';

/** The names of the entries of an archive. Rejects when the archive is refused. */
export async function namesIn(format: 'tar' | 'tar.gz', source: Buffer): Promise<string[]> {
  const names: string[] = [];
  const options = { maxKeptBytes: 0, signal: new AbortController().signal };
  for await (const { name } of readArchive(format, source, options)) names.push(name);
  return names;
}
