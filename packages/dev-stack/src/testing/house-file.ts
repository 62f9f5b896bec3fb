import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file for HOUSE. @param logos their contents by name, in its folder */
export async function writeHouseFile(
  rules: object | string | Buffer,
  logos: Readonly<Record<string, string | Buffer>> = {},
): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'pasteflow-house-'));
  const path = join(folder, 'house.json');
  await writeFile(path, typeof rules === 'string' || Buffer.isBuffer(rules) ? rules : JSON.stringify(rules));
  for (const [name, content] of Object.entries(logos)) await writeFile(join(folder, name), content);
  return { path, remove: () => rm(folder, { recursive: true }) };
}
