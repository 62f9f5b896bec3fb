import { figure, type Figure } from './figure.ts';
import { makeLoad } from './make-load.ts';
import { untilSettled } from './measure-creates.ts';
import { cpuByPart, type BenchCluster } from './processes.ts';

/**
 * How fast one worker settles a backlog. The first and the last tenth don't count: the worker is not at full
 * speed there.
 */
export async function measureSettling(cluster: BenchCluster, count: number): Promise<Figure[]> {
  const signal = (name: NodeJS.Signals): void => cluster.workers.forEach((worker) => worker.signal(name));
  signal('SIGSTOP');
  const { shortCodes } = await makeLoad({ baseUrl: cluster.http().url, kind: 'create', count });
  const before = await cpuByPart(cluster);
  signal('SIGCONT');
  await untilSettled(cluster);
  const after = await cpuByPart(cluster);
  const [measured] = await cluster.rows.query<{ settled: number; seconds: number }>(
    `WITH ended AS (
       SELECT processed_at, percent_rank() OVER (ORDER BY processed_at) AS rank
       FROM pastes WHERE short_code = ANY ($1))
     SELECT count(*)::int AS settled, extract(epoch FROM max(processed_at) - min(processed_at))::float8 AS seconds
     FROM ended WHERE rank BETWEEN 0.1 AND 0.9`,
    [shortCodes],
  );
  const { settled = NaN, seconds = NaN } = measured ?? {};
  return [
    figure('pastes settled a second by one worker', settled / seconds, '1/s'),
    figure('CPU of a settlement of a backlog: worker', (1000 * (after.worker - before.worker)) / count, 'ms'),
    figure(
      'CPU of a settlement of a backlog: postgres',
      (1000 * (after.postgres - before.postgres)) / count,
      'ms',
    ),
  ];
}
