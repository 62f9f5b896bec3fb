// Adds up what scripts/count-reporter.cjs left behind, and prints "N passed, N failed" as its last line.
// `--reset` forgets the last run. Plain JavaScript: .ci/run needs it even where the bootstrap failed.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folders = [
  'scripts',
  'infra',
  ...['packages', 'services'].flatMap((group) =>
    readdirSync(`${root}/${group}`).map((name) => `${group}/${name}`),
  ),
];

/** Runs that are no package's own test: see count-reporter.cjs. */
const named = ['localstack', 'scaling', 'volume'];

if (process.argv.includes('--reset')) {
  rmSync(`${root}/.test-results`, { recursive: true, force: true });
  for (const name of folders) rmSync(`${root}/${name}/.test-results`, { recursive: true, force: true });
  process.exit(0);
}

const sum = { passed: 0, failed: 0 };
const files = [
  ...folders.map((name) => [name, `${name}/.test-results/counts.json`]),
  ...named.map((name) => [`${name}`, `.test-results/${name}/counts.json`]),
];
for (const [name, file] of files) {
  const counts = read(file);
  if (counts === undefined) continue;
  sum.passed += counts.passed;
  sum.failed += counts.failed;
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
  console.log(`${name.padEnd(24)} ${counts.passed} passed, ${counts.failed} failed${skipped}`);
}
console.log(`${sum.passed} passed, ${sum.failed} failed`);

function read(file) {
  try {
    return JSON.parse(readFileSync(`${root}/${file}`, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
