// memory.volume.ts runs this as a separate process: it attempts several jobs, the first as warm-up, and
// measures the memory of each.
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
/**
 * The memory in use after a collection. The size of the process would include garbage, whose amount depends
 * on the load of the machine.
 */
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
  const sampling = setInterval(() => {
    most = Math.max(most, usedBytes());
  }, 200);
  const { ending, error } = await attempt(world, jobId, { services });
  clearInterval(sampling);
  measured.push({ grownBytes: most - before, outcome: ending ?? String(error) });
}
process.stdout.write(JSON.stringify(measured.slice(1)));
await db.destroy();
store.close();
