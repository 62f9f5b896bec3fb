import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Writes a file that is made from the sources or, with --check, fails when it isn't what they make. `path` is
 * from the root.
 */
export function keepGenerated(path: string, text: string, madeOf: string): void {
  const file = join(root, path);
  const wanted = formatted(path, text);
  if (!process.argv.includes('--check')) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, wanted);
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== wanted) {
    console.error(`${path} differs from ${madeOf}: run \`npm run docs\` and commit it`);
    process.exitCode = 1;
  }
}

/** By its command, because that alone reads .oxfmtrc.json. */
function formatted(path: string, text: string): string {
  const oxfmt = join(root, 'node_modules/.bin/oxfmt');
  const { error, status, stdout, stderr } = spawnSync(oxfmt, ['--stdin-filepath', path], {
    cwd: root,
    input: text,
    encoding: 'utf8',
    maxBuffer: Infinity,
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${path} could not be formatted: ${stderr}`);
  return stdout;
}
