import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { memoryOf, resetPeakMemory, startCluster, type Cluster, type Service } from '../src/index.ts';
import { HALF_GIB, largeBodies, MAX_RESIDENT_MIB, sendByAllCallers } from './support/large-bodies.ts';

const MIB = 1024 * 1024;

let cluster: Cluster;
let api: Service;
beforeAll(async () => {
  cluster = await startCluster({ apis: 0, workers: 0, janitors: 0, keepRequests: false });
  api = await cluster.add('api', HALF_GIB);
});
afterAll(() => cluster.stop());

describe('an api with the budget of 512 MiB', () => {
  // It takes 215 to 290 MiB here, and more than 2,000 when it ignores its budget.
  it.each(['raw', 'multipart', 'JSON'] as const)(
    'stays below 400 MiB while 200 callers send 10 MiB at once: %s',
    async (form) => {
      const body = largeBodies[form]();
      await resetPeakMemory(api.pid);
      const statuses = await sendByAllCallers(api, body);
      const count = (status: number): number => statuses.filter((each) => each === status).length;
      const { peak } = await memoryOf(api.pid);
      process.stdout.write(`${form}: ${Math.ceil(peak / MIB)} MiB\n`);
      expect(peak / MIB).toBeLessThan(MAX_RESIDENT_MIB);
      expect(count(201)).toBeGreaterThan(0);
      expect(count(201) + count(503) + count(0)).toBe(statuses.length);
      expect((await fetch(`${cluster.http().url}/healthz`)).status).toBe(200);
    },
    300_000,
  );
});
