// Adds up what scripts/count-reporter.cjs left behind, repeats what failed, which may be far above in the
// output, and prints "N passed, N failed" as its last line. Each argument names a step that failed, which
// counts as one failure: a check, for example, leaves no counts behind. `--reset` forgets the last run. Plain
// JavaScript: .ci/run needs it even where the bootstrap failed.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folders = [
  'scripts',
  'infra',
  ...['packages', 'clients', 'services', 'proofs', 'examples']
    .filter((group) => existsSync(`${root}/${group}`)) // proofs/ can be left out of a checkout
    .flatMap((group) => readdirSync(`${root}/${group}`).map((name) => `${group}/${name}`)),
];

if (process.argv.includes('--reset')) {
  rmSync(`${root}/.test-results`, { recursive: true, force: true });
  for (const name of folders) rmSync(`${root}/${name}/.test-results`, { recursive: true, force: true });
  process.exit(0);
}

const sum = { passed: 0, failed: 0 };
/** @type {{ name: string, message: string }[]} */
const failures = [];
const files = [
  ...folders.map((name) => [name, `${name}/.test-results/counts.json`]),
  // Runs that are no package's own test: see count-reporter.cjs.
  ...namesOfRuns().map((name) => [name, `.test-results/${name}/counts.json`]),
];
for (const [name, file] of files) {
  const counts = read(file);
  if (counts === undefined) continue;
  sum.passed += counts.passed;
  sum.failed += counts.failed;
  failures.push(...counts.failures);
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
  console.log(`${name.padEnd(24)} ${counts.passed} passed, ${counts.failed} failed${skipped}`);
}
for (const { name, message } of failures) console.log(`\n✕ ${name}\n${message}\n`);
const failedSteps = process.argv.slice(2);
for (const step of failedSteps) console.log(`✕ failed: ${step}`);
console.log(`${sum.passed} passed, ${sum.failed + failedSteps.length} failed`);

function namesOfRuns() {
  const folder = `${root}/.test-results`;
  return existsSync(folder) ? readdirSync(folder) : [];
}

function read(file) {
  try {
    return JSON.parse(readFileSync(`${root}/${file}`, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
