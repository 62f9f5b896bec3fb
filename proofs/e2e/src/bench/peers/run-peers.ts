import { loadavg } from 'node:os';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchCluster } from '../costs.ts';
import { startByHand } from './by-hand.ts';
import { Comparison, type Contender } from './comparison.ts';
import { jobPeers } from './job-peers.ts';
import {
  checkpoint,
  JOBS,
  measureJobs,
  measurePastes,
  type ReadyWorker,
  type RunningPastes,
  WARM_UP_JOBS,
} from './measure-peers.ts';
import { pastePeers } from './paste-peers.ts';
import { ROOT } from '../../entries.ts';
import { cpuSecondsOf, cpuSecondsOfFamily } from '../../usage.ts';
import { createOf, makeLoad, randomText } from '../load.ts';
import { measureCreates, shortCodesOf, untilSettled } from '../measure.ts';

/** Compares the upload-worker with other queues in Postgres, and the api with other paste services. */
export class PeerBench {
  readonly #cluster: BenchCluster;
  readonly #queues: Comparison<ReadyWorker>;
  readonly #pastes: Comparison<RunningPastes>;
  readonly #print: (line: string) => void;

  /** @param names of peers. Default: all */
  constructor(cluster: BenchCluster, names: readonly string[], print: (line: string) => void) {
    const queues = jobPeers(cluster);
    const pastes = [byHand(cluster), ...pastePeers];
    const all = [...queues, ...pastes].map(({ name }) => name);
    const unknown = names.find((name) => !all.includes(name));
    if (unknown !== undefined) throw new Error(`No peer is called ${unknown}. There are: ${all.join(', ')}`);
    this.#cluster = cluster;
    this.#print = print;
    const isChosen = ({ name }: { name: string }): boolean => names.length === 0 || names.includes(name);
    /** Pasteflow is measured only beside others. */
    const withOurs = <T>(ours: T, peers: readonly (T & { name: string })[]): readonly T[] =>
      peers.some(isChosen) ? [ours, ...peers.filter(isChosen)] : [];
    this.#queues = new Comparison(
      'Job queues',
      withOurs(uploadWorker(cluster), queues),
      (worker) => measureJobs(cluster, worker),
      print,
    );
    this.#pastes = new Comparison(
      'Paste services',
      withOurs(pasteflow(cluster), pastes),
      measurePastes,
      print,
    );
  }

  async run(): Promise<void> {
    await stopServices(this.#cluster); // each contender has the machine for itself
    const [postgres] = await this.#cluster.rows.query<{ version: string; fsync: string }>(
      `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync`,
    );
    const load = loadavg()[0]?.toFixed(1);
    this.#print(
      `Node ${process.version}, Postgres ${postgres?.version} with fsync ${postgres?.fsync}; load average ${load}`,
    );
    this.#print('Installing what is missing, which takes minutes the first time.');
    await this.#queues.run();
    await this.#pastes.run();
  }

  /** Prints what has been measured so far. */
  printTables(): void {
    this.#queues.printTable();
    this.#pastes.printTable();
  }

  /** Stops what is being measured. */
  async stop(): Promise<void> {
    await Promise.all([this.#queues.stop(), this.#pastes.stop()]);
  }
}

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const installed = { name: 'Pasteflow', version, install: () => Promise.resolve() };
const requestOf = createOf(() => Buffer.from(randomText()));

/** One upload-worker, with the api and the janitor that it needs. Their CPU time counts too. */
function uploadWorker(cluster: BenchCluster): Contender<ReadyWorker> {
  const signal = (name: NodeJS.Signals): void => cluster.workers.forEach((worker) => worker.signal(name));
  const start = async (): Promise<ReadyWorker> => {
    await checkpoint(cluster);
    await startServices(cluster);
    try {
      await measureCreates(cluster, { count: WARM_UP_JOBS, requestOf });
      signal('SIGSTOP');
      await makeLoad(cluster.http().url, { count: JOBS, expected: 201, requestOf });
      await cluster.rows.query('ANALYZE');
    } catch (error) {
      await stopServices(cluster);
      throw error;
    }
    return {
      pids: cluster.services.map(({ pid }) => pid),
      begin: () => signal('SIGCONT'),
      untilDone: () => untilSettled(cluster),
      stop: () => stopServices(cluster),
    };
  };
  return { ...installed, lacks: 'work without SQS', start };
}

/** All three services and Postgres. What the emulator of S3 and SQS uses does not count. */
function pasteflow(cluster: BenchCluster): Contender<RunningPastes> {
  const start = async (): Promise<RunningPastes> => {
    await startServices(cluster);
    return {
      url: cluster.http().url,
      createOf: requestOf,
      created: 201,
      pathsOf: (load) => shortCodesOf(load).map((code) => `/${code}`),
      untilStored: () => untilSettled(cluster),
      cpuSeconds: async () =>
        (await cpuSecondsOf(cluster.services.map(({ pid }) => pid))) +
        (await cpuSecondsOfFamily(await cluster.stack.postmasterPid())),
      restart: async () => {
        await stopServices(cluster);
        await startServices(cluster);
      },
      stop: () => stopServices(cluster),
    };
  };
  return {
    ...installed,
    lacks: 'run without Postgres, S3 and SQS (those two are not counted); each create waits for the disk',
    start,
  };
}

const byHand = (cluster: BenchCluster): Contender<RunningPastes> => ({
  name: 'by-hand',
  version: 'the same parts',
  lacks: 'send again what SQS did not get, fence a late worker, keep a trail, keep contents in memory',
  install: () => Promise.resolve(),
  start: () => startByHand(cluster),
});

async function startServices(cluster: BenchCluster): Promise<void> {
  try {
    await Promise.all(cluster.services.map((service) => service.start()));
  } catch (error) {
    await stopServices(cluster);
    throw error;
  }
}

async function stopServices(cluster: BenchCluster): Promise<void> {
  await Promise.all(cluster.services.map((service) => service.kill()));
}
