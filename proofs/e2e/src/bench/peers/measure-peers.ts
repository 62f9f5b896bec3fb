import { type LoadResult, makeLoad, type RequestOf } from '../load.ts';
import type { Measured, Running } from './comparison.ts';
import { cpuSecondsOf, cpuSecondsOfFamily } from '../../usage.ts';
import { type BenchCluster, walBytesOf } from '../costs.ts';

const CONNECTIONS = 32;
const WARM_UP = 1000;
const PASTES = 3000;
const HOT_PASTES = 100;
const HOT_READS = 10_000;

export interface RunningPastes extends Running {
  readonly url: string;
  readonly createOf: RequestOf;
  /** The status of the answer to a create. */
  readonly created: number;
  /** Where what was created is read. */
  pathsOf(load: LoadResult): readonly string[];
  /** Resolves when nothing is left to do for the pastes that were created. */
  untilStored(): Promise<void>;
  /** Of all processes that are its own, since their start. */
  readonly cpuSeconds: () => Promise<number>;
  /** After it, no paste is in memory of the service. */
  restart(): Promise<void>;
}

/** Creates, then first reads of each paste since a restart, then reads of a few pastes again and again. */
export async function measurePastes(service: RunningPastes): Promise<Measured> {
  await makeLoad(service.url, creates(service, WARM_UP));
  await service.untilStored();
  const created = await measure(service, PASTES, async () => {
    const load = await makeLoad(service.url, creates(service, PASTES));
    await service.untilStored();
    return load;
  });
  const paths = service.pathsOf(created.load);
  const hot = (count: number): string[] =>
    Array.from({ length: count }, (_, n) => paths[n % HOT_PASTES] ?? '');
  const cold = paths.slice(HOT_PASTES);
  await service.restart();
  await makeLoad(service.url, reads(hot(WARM_UP)));
  const first = await measure(service, cold.length, () => makeLoad(service.url, reads(cold)));
  const again = await measure(service, HOT_READS, () => makeLoad(service.url, reads(hot(HOT_READS))));
  return {
    'creates/s': created.perSecond,
    'CPU s/1,000 creates': created.cpuMs,
    'first reads/s': first.perSecond,
    'CPU s/1,000 first reads': first.cpuMs,
    'repeated reads/s': again.perSecond,
    'CPU s/1,000 repeated reads': again.cpuMs,
  };
}

const creates = ({ createOf, created }: RunningPastes, count: number) => ({
  count,
  requestOf: createOf,
  expected: created,
  connections: CONNECTIONS,
});

const reads = (paths: readonly string[]) => ({
  count: paths.length,
  requestOf: (n: number) => ({ method: 'GET', path: paths[n] ?? '' }) as const,
  expected: 200,
  connections: CONNECTIONS,
});

/** The rate is that of the answers; the CPU time contains what follows them. */
export async function measure(
  { cpuSeconds }: Pick<RunningPastes, 'cpuSeconds'>,
  count: number,
  act: () => Promise<LoadResult>,
): Promise<{ readonly load: LoadResult; readonly perSecond: number; readonly cpuMs: number }> {
  const before = await cpuSeconds();
  const load = await act();
  const cpuMs = (1000 * ((await cpuSeconds()) - before)) / count;
  return { load, perSecond: count / load.seconds, cpuMs };
}

/** A process compiles its hot code in its first jobs. */
export const WARM_UP_JOBS = 2000;
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
