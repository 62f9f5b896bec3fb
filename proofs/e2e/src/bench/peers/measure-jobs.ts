import { cpuSecondsOf, cpuSecondsOfFamily } from '../../usage.ts';
import { walBytesOf, type BenchCluster } from '../costs.ts';
import type { Measured, Running } from './comparison.ts';

/** A process compiles its hot code in its first jobs. */
export const WARM_UP = 2000;
export const JOBS = 10_000;

/** A worker that has warmed up and stands still, with JOBS in its queue. */
export interface ReadyWorker extends Running {
  readonly pids: readonly number[];
  begin(): void;
  /** Resolves when the end of every job is in Postgres. */
  untilDone(): Promise<unknown>;
}

/** Before a start: after a checkpoint each page is logged whole once, so that none may come in a round. */
export async function checkpoint(cluster: BenchCluster): Promise<void> {
  await cluster.rows.query('CHECKPOINT');
}

export async function measureJobs(cluster: BenchCluster, worker: ReadyWorker): Promise<Measured> {
  const before = await readTotals(cluster, worker.pids);
  const startedAt = performance.now();
  worker.begin();
  await worker.untilDone();
  const seconds = (performance.now() - startedAt) / 1000;
  const after = await readTotals(cluster, worker.pids);
  const perJob = (part: keyof typeof after): number => (after[part] - before[part]) / JOBS;
  return {
    'jobs/s': JOBS / seconds,
    'CPU s/1,000: worker': 1000 * perJob('worker'),
    Postgres: 1000 * perJob('postgres'),
    'S3 and SQS': 1000 * perJob('emulator'),
    'WAL bytes/job': perJob('walBytes'),
  };
}

async function readTotals(cluster: BenchCluster, pids: readonly number[]) {
  return {
    worker: await cpuSecondsOf(pids),
    postgres: await cpuSecondsOfFamily(await cluster.stack.postmasterPid()),
    emulator: await cpuSecondsOf([cluster.stack.pid]),
    walBytes: await walBytesOf(cluster),
  };
}
