// `npm test`: the checks of the whole repository, and, when they pass, all tests. `npm test -- PATH` runs the tests of one file or folder.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const checks = ['typecheck', 'lint', 'format:check', 'arrows', 'unused', 'docs:check', 'test:scripts'];

process.chdir(root);
const [path] = process.argv.slice(2);
process.exit(path === undefined ? testEverything() : testPath(path));

function testEverything(): number {
  run('node', ['scripts/count-tests.mjs', '--reset']);
  for (const tasks of [checks, ['test']]) {
    const startedAt = performance.now();
    console.log(`\n▸ ${tasks.join(', ')}`);
    const code = run('scripts/run', ['scripts/turbo.ts', ...tasks]);
    if (code !== 0) return code;
    console.log(`✓ ${tasks.join(', ')}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  }
  console.log('');
  return run('node', ['scripts/count-tests.mjs']);
}

/** @param path of a file or folder in a package, a service or scripts/ */
function testPath(path: string): number {
  const [folder] = /^(?:packages|services)\/[^/]+|^scripts/.exec(path) ?? [];
  if (folder === undefined) {
    console.error(`${path} is in no package: name a file or folder below packages/, services/ or scripts/.`);
    return 2;
  }
  return run('scripts/run', ['jest', '--config', 'jest.config.mjs', '--rootDir', folder, resolve(path)]);
}

function run(command: string, args: string[]): number {
  return spawnSync(command, args, { stdio: 'inherit' }).status ?? 1;
}
