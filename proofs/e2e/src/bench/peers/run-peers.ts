import { loadavg } from 'node:os';
import type { BenchCluster } from '../costs.ts';
import { Comparison } from './comparison.ts';
import { jobPeers } from './job-peers.ts';
import { measureJobs, type ReadyWorker } from './measure-jobs.ts';
import { measurePastes, type RunningPastes } from './measure-pastes.ts';
import { pastePeers } from './paste-peers.ts';
import { pasteflow, stopServices, uploadWorker } from './pasteflow.ts';

/** Compares the upload-worker with other queues in Postgres, and the api with other paste services. */
export class PeerBench {
  readonly #cluster: BenchCluster;
  readonly #queues: Comparison<ReadyWorker>;
  readonly #pastes: Comparison<RunningPastes>;
  readonly #print: (line: string) => void;

  /** @param names of peers. Default: all */
  constructor(cluster: BenchCluster, names: readonly string[], print: (line: string) => void) {
    const queues = jobPeers(cluster);
    const all = [...queues, ...pastePeers].map(({ name }) => name);
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
      withOurs(pasteflow(cluster), pastePeers),
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
