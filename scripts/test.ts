// `npm test`: every check in turn, from the quickest to the slowest. The first that fails ends it.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// Each is a script of the root package.json, so that it can be run alone: npm run lint.
const steps = [
  ['typecheck', 'types'],
  ['lint', 'lint'],
  ['format:check', 'formatting'],
  ['arrows', 'import arrows'],
  ['unused', 'exports without a user'],
  ['docs:check', 'generated docs'],
  ['build', 'build'],
  ['test:scripts', 'tests of the scripts'],
  ['test:packages', 'tests of the packages and services'],
  ['test:e2e', 'end-to-end tests'],
] as const;

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

run('node scripts/count-tests.mjs --reset');
for (const [script, title] of steps) {
  const startedAt = performance.now();
  console.log(`\n▸ ${title}: npm run ${script}`);
  const code = run(scripts[script] ?? `echo "no script ${script}" >&2; false`);
  if (code !== 0) {
    console.error(`\n✗ ${title} failed (npm run ${script})`);
    process.exit(code);
  }
  console.log(`✓ ${title}, ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
}
console.log('');
process.exit(run('node scripts/count-tests.mjs'));

function run(command: string): number {
  return spawnSync(command, { shell: true, stdio: 'inherit' }).status ?? 1;
}
