import { fileURLToPath } from 'node:url';
import { spawnService } from '@pasteflow/dev-stack/testing';
import { figure, type Figure } from './figure.ts';
import { makeLoad } from './make-load.ts';
import { untilSettled } from './measure-creates.ts';
import { cpuByPart, type BenchCluster } from './processes.ts';

/** Has the indexes and the constraints of the executions, and no trigger: neither guards nor audit trail. */
const WITHOUT_TRIGGERS = 'bench_executions';

/**
 * How many transitions Postgres commits a second, one in each transaction, on 32 connections, and how many in
 * a copy of the table without triggers. The reaper then gives the uploads back.
 */
export async function measureTransitions(cluster: BenchCluster, count: number): Promise<Figure[]> {
  const signal = (name: NodeJS.Signals): void => cluster.workers.forEach((worker) => worker.signal(name));
  signal('SIGSTOP');
  await makeLoad({ baseUrl: cluster.http().url, kind: 'create', count });
  await cluster.rows.query(`CREATE TABLE ${WITHOUT_TRIGGERS} (LIKE task_executions INCLUDING ALL)`);
  await cluster.rows.query(
    `INSERT INTO ${WITHOUT_TRIGGERS} SELECT * FROM task_executions WHERE status = 'PENDING' AND kind = 'upload'`,
  );
  const control = await measure(cluster, WITHOUT_TRIGGERS, count);
  const own = await measure(cluster, 'task_executions', count);
  await cluster.rows.query(`DROP TABLE ${WITHOUT_TRIGGERS}`);
  signal('SIGCONT');
  await untilSettled(cluster);
  return [
    figure('transitions committed a second, 32 connections', own.perSecond, '1/s'),
    figure('CPU of a transition: postgres', own.cpuMs, 'ms'),
    figure('the same without triggers: transitions a second', control.perSecond, '1/s'),
    figure('CPU of a transition without triggers: postgres', control.cpuMs, 'ms'),
  ];
}

async function measure(
  cluster: BenchCluster,
  table: string,
  count: number,
): Promise<{ perSecond: number; cpuMs: number }> {
  const before = await cpuByPart(cluster);
  const claims = spawnService({
    entry: fileURLToPath(new URL('transitions-main.ts', import.meta.url)),
    args: [cluster.stack.databaseUrl, table],
    name: 'transitions',
  });
  await claims.exited;
  const after = await cpuByPart(cluster);
  return {
    perSecond: Number(claims.stdout.at(-1)),
    cpuMs: (1000 * (after.postgres - before.postgres)) / count,
  };
}
