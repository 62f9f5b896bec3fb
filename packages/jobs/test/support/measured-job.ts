// Run by memory.test.ts as a process of its own: attempts at two jobs, the first one to warm up, and what memory the second took.
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
let grownBytes = 0;
let outcome: unknown;
for (const jobId of jobs) {
  const before = process.memoryUsage.rss();
  let most = before;
  // Looked at often: the system's own high-water mark begins with that of the process that started this one.
  const looking = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 5);
  const services = { maxPasteBytes: Number(maxPasteBytes), dispatchUploads: () => {} };
  const { ending, error } = await attempt(world, jobId, { services });
  clearInterval(looking);
  grownBytes = most - before;
  outcome = ending ?? String(error);
}
process.stdout.write(JSON.stringify({ grownBytes, outcome }));
await db.destroy();
store.close();
