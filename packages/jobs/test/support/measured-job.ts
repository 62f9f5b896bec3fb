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
  connectTimeoutMs: 60_000, // a collection may take seconds on a busy machine
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
  let sampling = setTimeout(sample, 200);
  // A collection is slow on a busy machine: it may take a third of the time, and not all of it.
  function sample(): void {
    const startedAt = performance.now();
    most = Math.max(most, usedBytes());
    sampling = setTimeout(sample, Math.max(200, 2 * (performance.now() - startedAt)));
  }
  const { ending, error } = await attempt(world, jobId, { services });
  clearTimeout(sampling);
  measured.push({ grownBytes: most - before, outcome: ending ?? String(error) });
}
process.stdout.write(JSON.stringify(measured.slice(1)));
await db.destroy();
store.close();
