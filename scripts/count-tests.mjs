// Adds up what scripts/count-reporter.cjs left behind, and prints "N passed, N failed" as its last line.
// `--reset` forgets the last run. Plain JavaScript: .ci/run needs it even where the bootstrap failed.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folders = [
  'scripts',
  ...['packages', 'services'].flatMap((group) =>
    readdirSync(`${root}/${group}`).map((name) => `${group}/${name}`),
  ),
];

if (process.argv.includes('--reset')) {
  for (const name of folders) rmSync(`${root}/${name}/.test-results`, { recursive: true, force: true });
  process.exit(0);
}

const sum = { passed: 0, failed: 0 };
for (const name of folders) {
  const counts = read(name);
  if (counts === undefined) continue;
  sum.passed += counts.passed;
  sum.failed += counts.failed;
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
  console.log(`${name.padEnd(24)} ${counts.passed} passed, ${counts.failed} failed${skipped}`);
}
console.log(`${sum.passed} passed, ${sum.failed} failed`);

function read(name) {
  try {
    return JSON.parse(readFileSync(`${root}/${name}/.test-results/counts.json`, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
