import { figure, type Figure } from './figure.ts';
import { makeLoad } from './make-load.ts';
import { cpuByPart, type BenchCluster } from './processes.ts';

/** Content reads and revalidations of the same hundred pastes. */
export async function measureReads(
  cluster: BenchCluster,
  shortCodes: readonly string[],
  count: number,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, kind] of [
    ['content read', 'read'],
    ['304', 'revalidate'],
  ] as const) {
    const before = await cpuByPart(cluster);
    const load = await makeLoad({
      baseUrl: cluster.http().url,
      kind,
      count,
      paths: shortCodes.map((code) => `/${code}`),
    });
    const after = await cpuByPart(cluster);
    figures.push(
      figure(`${name}s a second`, count / load.seconds, '1/s'),
      figure(`${name}, p99`, load.p99, 'ms'),
      figure(`CPU of a ${name}: api`, (1000 * (after.api - before.api)) / count, 'ms'),
      figure(`CPU of a ${name}: postgres`, (1000 * (after.postgres - before.postgres)) / count, 'ms'),
    );
  }
  return figures;
}
