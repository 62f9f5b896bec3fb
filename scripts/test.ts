// `npm test`: the checks of the whole repository, and, when they pass, all tests. `npm test -- PATH ...` runs the tests of files or folders.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const CHECKS = ['typecheck', 'lint', 'format:check', 'arrows', 'unused', 'docs:check', 'test:scripts'];
/**
 * Three runs side by side, each of one package after the other: one run for all packages except the end-to-end tests left a
 * third of the two cores idle. The first two have the tests that wait: for leases, retries, messages, and the starts and
 * stops of services. The third has those of all other packages. The packages are chosen so that the three runs end at about
 * the same time. Nothing depends on the order of the packages in a run.
 */
const FIRST = [
  '@pasteflow/e2e',
  '@pasteflow/s3',
  '@pasteflow/sqs',
  '@pasteflow/runtime',
  '@pasteflow/client',
  '@pasteflow/sealed',
  '@pasteflow/web',
  '@pasteflow/service-kit',
];
const SECOND = [
  '@pasteflow/upload-worker',
  '@pasteflow/janitor',
  '@pasteflow/cli',
  '@pasteflow/dev-stack',
  '@pasteflow/jobs',
];
const TESTS = [
  FIRST.map((name) => `--filter=${name}`),
  SECOND.map((name) => `--filter=${name}`),
  [...FIRST, ...SECOND].map((name) => `--filter=!${name}`),
].map((filters) => ['test', ...filters, '--concurrency=1']);

process.chdir(root);
const paths = process.argv.slice(2);
process.exit(paths.length === 0 ? await testEverything() : testPaths(paths));

async function testEverything(): Promise<number> {
  run('node', ['scripts/count-tests.mjs', '--reset']);
  const code = (await step('checks', [CHECKS])) || (await step('tests', TESTS));
  console.log('');
  return run('node', ['scripts/count-tests.mjs']) || code;
}

/** Runs turbo once for each of `runs`, side by side. */
async function step(name: string, runs: readonly (readonly string[])[]): Promise<number> {
  const startedAt = performance.now();
  console.log(`\n▸ ${name}`);
  const codes = await Promise.all(runs.map(runTurbo));
  const code = codes.find((each) => each !== 0) ?? 0;
  if (code === 0) console.log(`✓ ${name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  return code;
}

async function runTurbo(tasks: readonly string[]): Promise<number> {
  const child = spawn('scripts/run', ['scripts/turbo.ts', ...tasks], { stdio: 'inherit' });
  const [code] = (await once(child, 'close')) as [number | null];
  return code ?? 1;
}

/** @param paths of files or folders in packages, services or scripts/ */
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
    return `${path} is in no package: name a file or folder below packages/, services/ or scripts/.`;
  if (!existsSync(path)) return `${path} does not exist.`;
  if (statSync(path).isFile() && !path.endsWith('.test.ts'))
    return `${path} is no test of npm test. CONTRIBUTING.md names the commands for longer tests.`;
  return undefined;
}

function folderOf(path: string): string | undefined {
  return /^(?:packages|services)\/[^/]+|^scripts/.exec(path)?.[0];
}

function run(command: string, args: string[]): number {
  return spawnSync(command, args, { stdio: 'inherit' }).status ?? 1;
}
