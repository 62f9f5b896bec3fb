import { hash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { DEFAULT_REGION } from '@pasteflow/dev-stack';
import { createObjectStore } from '@pasteflow/s3';
import { randomText } from '../load.ts';
import { bareLoop } from './bare-loop.ts';
import { graphileWorker } from './graphile-worker.ts';
import { pgBoss } from './pg-boss.ts';

/**
 * Works on jobs that each put 2 KB into S3, from the queue of a library, first to warm up and then, on
 * SIGUSR2, to be measured. Arguments: the library, the folder in which it is installed, database URL,
 * endpoint, bucket, jobs to warm up, jobs.
 */
const [name, folder = '', databaseUrl = '', endpoint = '', bucket = '', warmUp, count] =
  process.argv.slice(2);

const store = createObjectStore({
  region: DEFAULT_REGION,
  endpoint,
  bucket,
  maxAttempts: 1,
  requestTimeoutMs: 10_000,
  requests: 'direct',
});
let left = 0;
let allPut = Promise.withResolvers<void>();

async function put(text: string): Promise<void> {
  const content = Buffer.from(text);
  await store.put(`bench/${randomUUID()}`, content, { sha256: hash('sha256', content, 'buffer') });
  left -= 1;
  if (left === 0) allPut.resolve();
}

const libraries = { 'graphile-worker': graphileWorker, 'pg-boss': pgBoss, 'skip-locked': bareLoop };
const queue = await libraries[name as keyof typeof libraries]({ folder, databaseUrl, put });

async function fill(jobs: number): Promise<void> {
  left = jobs;
  allPut = Promise.withResolvers();
  await queue.fill(Array.from({ length: jobs }, randomText));
}

await fill(Number(warmUp));
const stop = await queue.work();
await allPut.promise;
await stop();

await fill(Number(count));
const begin = once(process, 'SIGUSR2');
const idle = setInterval(() => {}, 60_000); // a process with nothing but a listener for a signal would end
process.stdout.write('filled\n');
await begin;
clearInterval(idle);
await queue.work();
