import { fileURLToPath } from 'node:url';
import { spawnService } from '@pasteflow/dev-stack/testing';
import { figure, type Figure } from './figure.ts';
import { makeLoad } from './make-load.ts';
import { untilSettled } from './measure-creates.ts';
import type { BenchCluster } from './processes.ts';

/** How many transitions Postgres commits a second, one in each transaction, on 32 connections. The reaper then gives the uploads back. */
export async function measureTransitions(cluster: BenchCluster, count: number): Promise<Figure> {
  const signal = (name: NodeJS.Signals): void => cluster.workers.forEach((worker) => worker.signal(name));
  signal('SIGSTOP');
  await makeLoad({ baseUrl: cluster.http().url, kind: 'create', count });
  const claims = spawnService({
    entry: fileURLToPath(new URL('transitions-main.ts', import.meta.url)),
    args: [cluster.stack.databaseUrl],
    name: 'transitions',
  });
  await claims.exited;
  signal('SIGCONT');
  await untilSettled(cluster);
  return figure('transitions committed a second, 32 connections', Number(claims.stdout.at(-1)), '1/s');
}
