// Jest's global setup: a Postgres for all test files of a package, which call startSharedTestStack or startSharedTestPostgres. To start and stop a
// Postgres of its own takes a test file 0.3 s of CPU time, a database of its own 0.04 s.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const fromRoot = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const SHARING = [
  'packages/jobs',
  'packages/postgres',
  'services/api',
  'services/janitor',
  'services/upload-worker',
];

let child;

export default async function startShared({ rootDir }) {
  if (!SHARING.includes(relative(fromRoot('.'), rootDir))) return;
  // A process of its own, because jest transforms what its global setup loads.
  child = spawn(process.execPath, [fromRoot('packages/dev-stack/src/testing/shared-postgres-main.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const url = await Promise.race([
    once(child.stdout, 'data').then(String),
    once(child, 'exit').then(() => ''),
  ]);
  if (url === '') throw new Error('The Postgres for the tests did not start.');
  process.env.TEST_SHARED_POSTGRES = url.trim(); // jest's workers inherit it
}

export async function stopShared() {
  if (child === undefined) return;
  const exited = once(child, 'exit');
  child.stdin.end();
  await exited;
}
