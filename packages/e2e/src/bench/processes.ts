import { readFile } from 'node:fs/promises';
import type { Cluster } from '../cluster.ts';
import type { StackProcess } from '../stacks.ts';
import { computed, computedByFamily } from '../usage.ts';

export const PARTS = ['postgres', 'api', 'worker', 'janitor', 'emulator'] as const;

/** CPU time in s. */
export type CpuByPart = Readonly<Record<(typeof PARTS)[number], number>>;

export type BenchCluster = Cluster<StackProcess>;

/** The CPU time of each process of the cluster since it began. */
export async function cpuByPart(cluster: BenchCluster): Promise<CpuByPart> {
  const pidsOf = (services: BenchCluster['services']): number[] => services.map(({ pid }) => pid);
  const [postgres, api, worker, janitor, emulator] = await Promise.all([
    computedByFamily(await cluster.stack.postmasterPid()),
    computed(pidsOf(cluster.apis)),
    computed(pidsOf(cluster.workers)),
    computed(pidsOf(cluster.janitors)),
    computed([cluster.stack.pid]),
  ]);
  return { postgres, api, worker, janitor, emulator };
}

/** What the database has written and committed since it was created. */
export async function databaseWork(
  cluster: BenchCluster,
): Promise<{ walBytes: number; transactions: number }> {
  const [row] = await cluster.rows.query<{ wal: string; transactions: string }>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text AS wal, xact_commit::text AS transactions
     FROM pg_stat_database WHERE datname = current_database()`,
  );
  return { walBytes: Number(row?.wal), transactions: Number(row?.transactions) };
}

/** The machine that a run was made on. */
export async function machine(): Promise<string> {
  const info = await readFile('/proc/cpuinfo', 'utf8');
  const model = /^model name\s*:\s*(.*)$/m.exec(info)?.[1] ?? 'unknown processor';
  const cores = info.match(/^processor\s*:/gm)?.length ?? 0;
  return `${cores} cores of ${model}, Node ${process.version}`;
}

/** Starts services again with further settings. */
export async function restart(
  services: BenchCluster['services'],
  env: Readonly<Record<string, string>>,
): Promise<void> {
  await Promise.all(services.map((service) => service.kill()));
  for (const service of services) await service.start({ env });
}
