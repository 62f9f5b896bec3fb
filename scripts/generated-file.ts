import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Writes a file that is made from the sources or, with --check, fails when it isn't what they make. `path` is from the root. */
export async function keepGenerated(path: string, text: string, madeOf: string): Promise<void> {
  const file = join(root, path);
  const wanted = await format(text, { ...(await resolveConfig(file)), filepath: file });
  if (!process.argv.includes('--check')) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, wanted);
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== wanted) {
    console.error(`${path} differs from ${madeOf}: run \`npm run docs\` and commit it`);
    process.exitCode = 1;
  }
}
