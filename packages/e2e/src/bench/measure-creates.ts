import { setTimeout as sleep } from 'node:timers/promises';
import { figure, type Figure } from './figure.ts';
import { makeLoad } from './make-load.ts';
import type { LoadResult } from './load-job.ts';
import { cpuByPart, databaseWork, PARTS, type BenchCluster } from './processes.ts';

/** A backend reports what it has committed once a second. */
const STATISTICS_DELAY_MS = 1200;

type CreateKind = 'create' | 'create of text' | 'keyed create';

/**
 * From the POST until every paste is PROCESSED: what each process computes for it, and what Postgres writes.
 */
export async function measureCreates(
  cluster: BenchCluster,
  count: number,
  kind: CreateKind = 'create',
): Promise<Figure[]> {
  await sleep(STATISTICS_DELAY_MS);
  const [cpuBefore, workBefore] = [await cpuByPart(cluster), await databaseWork(cluster)];
  const load = await createAndSettle(cluster, count, kind);
  const cpuAfter = await cpuByPart(cluster);
  await sleep(STATISTICS_DELAY_MS);
  const workAfter = await databaseWork(cluster);

  const parts = PARTS.map((part) => ({ part, ms: (1000 * (cpuAfter[part] - cpuBefore[part])) / count }));
  const own = parts.filter(({ part }) => part !== 'emulator').reduce((sum, { ms }) => sum + ms, 0);
  return [
    figure(`CPU of a ${kind} until it is stored`, own, 'ms'),
    ...parts.map(({ part, ms }) => figure(`CPU of a ${kind}: ${part}`, ms, 'ms')),
    figure(`${kind.replace('create', 'creates')} a second`, count / load.seconds, '1/s'),
    figure(`${kind}, median`, load.p50, 'ms'),
    figure(`${kind}, p99`, load.p99, 'ms'),
    figure(`WAL of a ${kind}`, (workAfter.walBytes - workBefore.walBytes) / count, 'bytes'),
    figure(`transactions of a ${kind}`, (workAfter.transactions - workBefore.transactions) / count, ''),
  ];
}

/** Creates pastes, and waits until all of them are PROCESSED. */
export async function createAndSettle(
  cluster: BenchCluster,
  count: number,
  kind: CreateKind = 'create',
): Promise<LoadResult> {
  const load = await makeLoad({ baseUrl: cluster.http().url, kind, count });
  await untilSettled(cluster);
  return load;
}

export async function untilSettled(cluster: BenchCluster): Promise<void> {
  await cluster.until(
    () => cluster.rows.query('SELECT FROM paste_payloads LIMIT 1'),
    ({ length }) => length === 0,
    { within: 300_000 },
  );
}

/** The latency of creates at half of the rate that the services can keep up with. */
export async function measureHalfLoad(
  cluster: BenchCluster,
  { perSecond, count }: { perSecond: number; count: number },
): Promise<Figure[]> {
  const load = await makeLoad({
    baseUrl: cluster.http().url,
    kind: 'create',
    count,
    perSecond: perSecond / 2,
    connections: 200,
    warming: Math.floor(count / 3),
  });
  await untilSettled(cluster);
  return [
    figure('create at half load, median', load.p50, 'ms'),
    figure('create at half load, p99', load.p99, 'ms'),
  ];
}
