// Jest's global setup, and its global teardown: a Postgres for all test files of a package, which call
// startSharedTestStack or startSharedTestPostgres. To start and stop a Postgres of its own takes a test file
// 0.3 s of CPU time, a database of its own 0.04 s.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(
  new URL('../packages/dev-stack/src/testing/shared-postgres-main.ts', import.meta.url),
);

let child;

export default async function setUpOrTearDown({ rootDir }) {
  if (child !== undefined) return await stopShared();
  const files = globSync('test/**/*.ts', { cwd: rootDir });
  if (!files.some((file) => /\bstartSharedTest/.test(readFileSync(`${rootDir}/${file}`, 'utf8')))) return;
  // A process of its own, because jest transforms what its global setup loads.
  child = spawn(process.execPath, [main], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const url = await Promise.race([
    once(child.stdout, 'data').then(String),
    once(child, 'exit').then(() => ''),
  ]);
  if (url === '') throw new Error('The Postgres for the tests did not start.');
  process.env.TEST_SHARED_POSTGRES = url.trim(); // jest's workers inherit it
}

async function stopShared() {
  const exited = once(child, 'exit');
  child.stdin.end();
  await exited;
  child = undefined; // jest --watch sets up again
}
