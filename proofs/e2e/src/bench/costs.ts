import { startCluster, type Cluster } from '../cluster.ts';
import { ROOT } from '../entries.ts';
import { StackProcess } from '../stacks.ts';
import { cpuSecondsOf, cpuSecondsOfFamily } from '../usage.ts';

export type BenchCluster = Cluster<StackProcess>;

/** One api, one worker and one janitor, from the sources in `checkout`, which reach the stack past the proxies. */
export async function startBenchCluster(checkout = ROOT): Promise<BenchCluster> {
  const stack = await StackProcess.start();
  return await startCluster({
    stack,
    checkout,
    env: {
      DATABASE_URL: stack.databaseUrl,
      AWS_ENDPOINT_URL_S3: stack.aws.s3,
      AWS_ENDPOINT_URL_SQS: stack.aws.sqs,
      LOG_LEVEL: 'info',
      // Counted as always, and never reached.
      RATE_LIMIT_CREATIONS_PER_MINUTE: '1000000000',
      RATE_LIMIT_REQUESTS_PER_MINUTE: '1000000000',
      RATE_LIMIT_BYTES_PER_HOUR: '1000000000000000',
      RATE_LIMIT_ANONYMOUS_BYTES_PER_HOUR: '1000000000000000',
    },
  });
}

/** What one paste or request costs: CPU time in ms, by part of the system, and bytes of WAL. */
export interface Costs {
  readonly postgres: number;
  readonly api: number;
  readonly worker: number;
  readonly janitor: number;
  readonly walBytes: number;
}

/** The CPU time of all parts. */
export const cpuOf = ({ postgres, api, worker, janitor }: Costs): number => postgres + api + worker + janitor;

/** Does `act`, which handles `count` pastes or requests. */
export async function measureCosts<T>(
  cluster: BenchCluster,
  count: number,
  act: () => Promise<T>,
): Promise<{ costs: Costs; result: T }> {
  const before = await readTotals(cluster);
  const result = await act();
  const after = await readTotals(cluster);
  const each = (part: keyof Costs, unit = 1): number => (unit * (after[part] - before[part])) / count;
  const costs = {
    postgres: each('postgres', 1000),
    api: each('api', 1000),
    worker: each('worker', 1000),
    janitor: each('janitor', 1000),
    walBytes: each('walBytes'),
  };
  return { costs, result };
}

/** Since the start of the processes; CPU time in s. */
async function readTotals(cluster: BenchCluster): Promise<Costs> {
  const cpuOfAll = (services: BenchCluster['services']): Promise<number> =>
    cpuSecondsOf(services.map(({ pid }) => pid));
  const [postgres, api, worker, janitor, walBytes] = await Promise.all([
    cpuSecondsOfFamily(await cluster.stack.postmasterPid()),
    cpuOfAll(cluster.apis),
    cpuOfAll(cluster.workers),
    cpuOfAll(cluster.janitors),
    walBytesOf(cluster),
  ]);
  return { postgres, api, worker, janitor, walBytes };
}

/** What Postgres has written since it was made. */
export async function walBytesOf(cluster: BenchCluster): Promise<number> {
  const [wal] = await cluster.rows.query<{ bytes: string }>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text AS bytes`,
  );
  return Number(wal?.bytes);
}
