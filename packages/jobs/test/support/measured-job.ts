// Run by memory.test.ts as a process of its own: attempts at several jobs, the first one to warm up, and what memory each held beyond that.
import { createDatabase } from '@pasteflow/postgres';
import { createObjectStore } from '@pasteflow/s3';
import { attempt } from './attempts.ts';
import type { World } from './world.ts';

const [databaseUrl, endpoint, maxPasteBytes, ...jobs] = process.argv.slice(2) as [
  string,
  string,
  string,
  ...string[],
];
const db = createDatabase({
  url: databaseUrl,
  applicationName: 'memory',
  maxConnections: 4,
  onConnectionError: () => {},
});
const store = createObjectStore({
  region: 'us-east-1',
  endpoint,
  bucket: 'pasteflow',
  maxAttempts: 3,
  requestTimeoutMs: 30_000,
});
const world = { db, store } as World;
const services = { maxPasteBytes: Number(maxPasteBytes), dispatchUploads: () => {} };
/** What is in use, not what the system has given: how much garbage there is at a time depends on what else the machine does. */
function usedBytes(): number {
  gc?.();
  gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const measured: { grownBytes: number; outcome: unknown }[] = [];
for (const jobId of jobs) {
  const before = usedBytes();
  let most = before;
  const looking = setInterval(() => {
    most = Math.max(most, usedBytes());
  }, 200);
  const { ending, error } = await attempt(world, jobId, { services });
  clearInterval(looking);
  measured.push({ grownBytes: most - before, outcome: ending ?? String(error) });
}
process.stdout.write(JSON.stringify(measured.slice(1)));
await db.destroy();
store.close();
