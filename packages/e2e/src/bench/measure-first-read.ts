import { setTimeout as sleep } from 'node:timers/promises';
import { figure, type Figure } from './figure.ts';
import { PASTE_BYTES } from './load-job.ts';
import type { BenchCluster } from './processes.ts';

const TRIES = 20;

/**
 * From the 201 to the content, for a client that reads at once and waits as Retry-After says: `curl --retry`.
 */
export async function measureFirstRead(cluster: BenchCluster): Promise<Figure[]> {
  const times: number[] = [];
  for (let n = 0; n < TRIES; n += 1) {
    const created = await cluster.http().post(Buffer.alloc(PASTE_BYTES, `${n} `));
    const { short_code: shortCode } = (await created.json()) as { short_code: string };
    const startedAt = performance.now();
    for (;;) {
      const { status, headers } = await cluster.http().read(shortCode);
      if (status === 200) break;
      await sleep(1000 * Number(headers.get('retry-after')));
    }
    times.push(performance.now() - startedAt);
  }
  const median = times.toSorted((a, b) => a - b)[Math.floor(TRIES / 2)] ?? NaN;
  return [figure('from the 201 to the content, median', median, 'ms')];
}
