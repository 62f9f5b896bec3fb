import { figure, type Figure } from './figure.ts';
import { makeLoad } from './make-load.ts';
import { cpuByPart, type BenchCluster, restart } from './processes.ts';

/** Uncounted: a process compiles its hot code in its first requests. */
const WARMING_READS = 1000;

const READ = ['content read', 'read'] as const;
const REVALIDATION = ['304', 'revalidate'] as const;

/**
 * Content reads and revalidations of the same hundred pastes, whose contents are in the memory of the api
 * after the first reads.
 */
export async function measureReads(
  cluster: BenchCluster,
  shortCodes: readonly string[],
  count: number,
): Promise<Figure[]> {
  return [
    ...(await measure(cluster, shortCodes, { count, what: READ })),
    ...(await measure(cluster, shortCodes, { count, what: REVALIDATION })),
  ];
}

/** The same content reads, each with a GetObject. Leaves the apis without a cache. */
export async function measureUncachedReads(
  cluster: BenchCluster,
  shortCodes: readonly string[],
  count: number,
): Promise<Figure[]> {
  await restart(cluster.apis, { CONTENT_CACHE_BYTES: '0' });
  await measure(cluster, shortCodes, { count: WARMING_READS, what: READ });
  return await measure(cluster, shortCodes, { count, what: ['content read from S3', 'read'] });
}

async function measure(
  cluster: BenchCluster,
  shortCodes: readonly string[],
  { count, what: [name, kind] }: { count: number; what: readonly [string, 'read' | 'revalidate'] },
): Promise<Figure[]> {
  const before = await cpuByPart(cluster);
  const load = await makeLoad({
    baseUrl: cluster.http().url,
    kind,
    count,
    paths: shortCodes.map((code) => `/${code}`),
  });
  const after = await cpuByPart(cluster);
  return [
    figure(`${name}: a second`, count / load.seconds, '1/s'),
    figure(`${name}, p99`, load.p99, 'ms'),
    figure(`CPU of a ${name}: api`, (1000 * (after.api - before.api)) / count, 'ms'),
    figure(`CPU of a ${name}: postgres`, (1000 * (after.postgres - before.postgres)) / count, 'ms'),
  ];
}
