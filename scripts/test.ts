// `npm test`: the checks of the whole repository, and, when they pass, all tests. `npm test -- PATH ...` runs
// the tests of files or folders.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const CHECKS = ['typecheck', 'lint', 'format:check', 'arrows', 'unused', 'docs:check'];
/**
 * The tests of three packages at a time: many of them wait, for leases, retries, messages, and the starts of
 * services.
 */
const TESTS = ['test', '--concurrency=3'];

process.chdir(root);
const paths = process.argv.slice(2);
process.exit(paths.length === 0 ? testEverything() : testPaths(paths));

function testEverything(): number {
  run('node', ['scripts/count-tests.mjs', '--reset']);
  const steps: readonly [string, () => number][] = [
    ['checks', () => step('checks', CHECKS)],
    ['tests of scripts/', () => testPaths(['scripts'])],
    ['tests', () => step('tests', TESTS)],
  ];
  const failed = steps.find(([, runStep]) => runStep() !== 0)?.[0];
  console.log('');
  run('node', ['scripts/count-tests.mjs', ...(failed === undefined ? [] : [failed])]);
  return failed === undefined ? 0 : 1;
}

function step(name: string, tasks: readonly string[]): number {
  const startedAt = performance.now();
  console.log(`\n▸ ${name}`);
  const code = run('scripts/run', ['scripts/turbo.ts', ...tasks]);
  if (code === 0) console.log(`✓ ${name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  return code;
}

/** @param paths of files or folders in packages, clients, services, proofs, examples or scripts/ */
function testPaths(paths: readonly string[]): number {
  const problem = paths.map(problemWith).find((each) => each !== undefined);
  if (problem !== undefined) {
    console.error(problem);
    return 2;
  }
  const codes = [...Map.groupBy(paths, (path) => folderOf(path) ?? '')].map(([folder, inFolder]) =>
    testFolder(folder, inFolder),
  );
  return codes.find((code) => code !== 0) ?? 0;
}

function testFolder(folder: string, paths: readonly string[]): number {
  const files = paths.map((path) => resolve(path));
  return run('scripts/run', ['jest', '--config', 'jest.config.mjs', '--rootDir', folder, ...files]);
}

/** Jest ignores a path that matches no test, as long as another path matches one. */
function problemWith(path: string): string | undefined {
  if (folderOf(path) === undefined)
    return `${path} is in no package: name a file or folder below packages/, clients/, services/, proofs/, examples/ or scripts/.`;
  if (!existsSync(path)) return `${path} does not exist.`;
  if (statSync(path).isFile() && !path.endsWith('.test.ts'))
    return `${path} is no test of npm test. CONTRIBUTING.md names the commands for longer tests.`;
  return undefined;
}

function folderOf(path: string): string | undefined {
  return /^(?:packages|clients|services|proofs|examples)\/[^/]+|^scripts/.exec(path)?.[0];
}

function run(command: string, args: string[]): number {
  return spawnSync(command, args, { stdio: 'inherit' }).status ?? 1;
}
