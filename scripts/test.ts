// `npm test`: the checks of the whole repository, and, when they pass, all tests. `npm test -- PATH ...` runs
// the tests of files or folders.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const CHECKS = ['typecheck', 'lint', 'format:check', 'arrows', 'unused', 'docs:check'];
/**
 * The tests of three packages at a time: many of them wait, for leases, retries, messages, and the starts of
 * services. Those of the api take the longest, and turbo would start them last, because the api stands on most
 * packages: they would run alone at the end.
 */
const TESTS = [
  ['test', '--filter=@pasteflow/api', '--concurrency=1'],
  ['test', '--filter=!@pasteflow/api', '--concurrency=2'],
];

process.chdir(root);
const paths = process.argv.slice(2);
process.exit(paths.length === 0 ? await testEverything() : testPaths(paths));

async function testEverything(): Promise<number> {
  run('node', ['scripts/count-tests.mjs', '--reset']);
  const steps: readonly [string, () => number | Promise<number>][] = [
    ['checks', () => step('checks', [CHECKS])],
    ['tests of scripts/', () => testPaths(['scripts'])],
    ['tests', () => step('tests', TESTS)],
  ];
  let failed: string | undefined;
  for (const [name, runStep] of steps) {
    if ((await runStep()) === 0) continue;
    failed = name;
    break;
  }
  console.log('');
  run('node', ['scripts/count-tests.mjs', ...(failed === undefined ? [] : [failed])]);
  return failed === undefined ? 0 : 1;
}

/** @param runs of turbo, side by side */
async function step(name: string, runs: readonly (readonly string[])[]): Promise<number> {
  const startedAt = performance.now();
  console.log(`\n▸ ${name}`);
  const codes = await Promise.all(
    runs.map(async (tasks) => {
      const turbo = spawn('scripts/run', ['scripts/turbo.ts', ...tasks], { stdio: 'inherit' });
      const [code] = (await once(turbo, 'exit')) as [number | null];
      return code ?? 1;
    }),
  );
  const failed = codes.find((code) => code !== 0) ?? 0;
  if (failed === 0) console.log(`✓ ${name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  return failed;
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
