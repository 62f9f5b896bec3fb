import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  cpuSecondsOf,
  coreTime,
  idleShare,
  startCluster,
  StackProcess,
  type Cluster,
  type Service,
} from '../src/index.ts';

/**
 * `npm run proof -- scaling`. No other program may use the machine: four workers, S3, SQS and Postgres use
 * two cores completely.
 */
const COUNTS = [1, 2, 4];

/**
 * The minimum throughput of each of n workers, as a share of that of one worker. CI, with shared machines,
 * requires less.
 */
const MIN_SHARE_OF_IDEAL = Number(process.env.SCALING_LEAST_OF_IDEAL ?? 0.9);

const PUT_MS = 100;
/** The ten slots of one consumer upload at most 100 pastes a second. */
const PASTES_PER_WORKER = Number(process.env.SCALING_PASTES ?? 600);
const CONTENT_BYTES = 500;

let cluster: Cluster<StackProcess>;
beforeAll(async () => {
  const stack = await StackProcess.start();
  cluster = await startCluster({
    stack,
    workers: 0,
    env: {
      // One consumer in each process: the test multiplies processes, and two cores can't supply four times 40
      // slots.
      UPLOAD_CONCURRENCY: '1',
      UPLOAD_WORKER_QUEUES: 'uploads',
      // Without the proxies of Postgres and SQS, because this process has one thread, which the slow S3 uses.
      DATABASE_URL: stack.databaseUrl,
      AWS_ENDPOINT_URL_SQS: stack.aws.sqs,
    },
  });
  cluster.s3.rule({ method: 'PUT' }, { kind: 'delay', ms: PUT_MS });
}, 60_000);
afterAll(() => cluster.stop());

/** Settled pastes a second with one worker. */
let single = 0;

describe('settled pastes a second, with an S3 that takes 100 ms for a put', () => {
  it.each(COUNTS.map((count) => [count]))(
    'grow with the number of workers until the cores are busy: %i workers',
    async (count) => {
      while (cluster.workers.length < count) await cluster.add('upload-worker');
      const rounds: Round[] = [];
      // Other load on the machine can only make a round slower, so one good round is enough.
      const isEnough = () => (count === 1 ? rounds.length === ROUNDS.single : rounds.some(isLinear));
      while (!isEnough() && rounds.length < ROUNDS.max) rounds.push(await measure(count));
      if (count === 1) single = Math.max(...rounds.map(({ rate }) => rate));
      for (const { rate, idle } of rounds)
        print(
          `${count} worker(s): ${rate.toFixed(1)}/s, ${ratioOf(count, rate).toFixed(3)} of ideal, cores ${percent(idle)} idle`,
        );
      expect(rounds.filter((round) => isLinear(round) || round.idle < MIN_IDLE_SHARE)).not.toEqual([]);
      await cluster.expectQuiet({ within: 60_000 });
    },
    300_000,
  );
});

/**
 * The number of rounds with one worker, of which the best counts, and the maximum number with several
 * workers.
 */
const ROUNDS = { single: 3, max: 5 };
/** Cores with a smaller idle share than this are busy. */
const MIN_IDLE_SHARE = 0.2;

interface Round {
  readonly count: number;
  /** Settled pastes a second. */
  readonly rate: number;
  /** The idle share of the cores, from 0 to 1. */
  readonly idle: number;
}

const ratioOf = (count: number, rate: number): number => rate / (count * single);
const isLinear = ({ count, rate }: Round): boolean => ratioOf(count, rate) >= MIN_SHARE_OF_IDEAL;
const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;
const print = (line: string) => process.stdout.write(`${line}\n`);

/**
 * Creates a backlog while the workers are frozen, and measures their settlements without the first and the
 * last fifth, when not all work.
 */
async function measure(count: number): Promise<Round> {
  for (const worker of cluster.workers) worker.signal('SIGSTOP');
  const codes = await createPastes(count * PASTES_PER_WORKER);
  for (const worker of cluster.workers) worker.signal('SIGCONT');
  const before = coreTime();
  await cluster.until(
    () => cluster.rows.query(`SELECT FROM pastes WHERE status = 'IN_PROGRESS' LIMIT 1`),
    ({ length }) => length === 0,
    { within: 60_000 },
  );
  const idle = idleShare(before);
  const [measured] = await cluster.rows.query<{ settled: number; seconds: number; workers: number }>(
    `WITH ended AS (
       SELECT processed_at, worker_id, percent_rank() OVER (ORDER BY processed_at) AS rank
       FROM pastes p JOIN task_executions e ON e.subject_id = p.id WHERE p.short_code = ANY ($1))
     SELECT count(*)::int AS settled, count(DISTINCT worker_id)::int AS workers,
       extract(epoch FROM max(processed_at) - min(processed_at))::float8 AS seconds
     FROM ended WHERE rank BETWEEN 0.2 AND 0.8`,
    [codes],
  );
  const { settled, seconds, workers } = measured!;
  expect(workers).toBe(count);
  return { count, rate: settled / seconds, idle };
}

async function createPastes(count: number, api = 0): Promise<string[]> {
  const codes: string[] = [];
  let remaining = count;
  const lane = async (): Promise<void> => {
    while (remaining > 0) {
      remaining -= 1;
      codes.push((await cluster.client({ api }).pastes.create(randomBytes(CONTENT_BYTES))).short_code);
    }
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  return codes;
}

describe('workers that join and leave under load', () => {
  it('lose no paste, and end no execution as failed unless they are killed', async () => {
    const answered: string[] = [];
    const load = cluster.load(
      async () => {
        const { short_code } = await cluster.client().pastes.create(randomBytes(CONTENT_BYTES));
        answered.push(short_code);
      },
      { pauseMs: 10 },
    );
    let kills = 0;
    await cluster.add('upload-worker'); // one that goes on when another one is stopped
    for (let round = 0; round < 4; round += 1) {
      await cluster.add('upload-worker');
      await untilMoreSettled(answered, 100);
      const [stopped, killed] = cluster.workers.filter(isRunning);
      expect((await stopped!.stop()).code).toBe(0);
      ended.add(stopped!);
      if (round % 2 === 1) {
        await killed!.kill();
        ended.add(killed!);
        kills += 1;
        await cluster.add('upload-worker');
      }
      await untilMoreSettled(answered, 100);
    }
    await load.stop();
    await cluster.expectQuiet({ within: 60_000 });

    const lost = await cluster.rows.query(
      `SELECT short_code FROM unnest($1::text[]) AS answered (short_code)
       LEFT JOIN pastes USING (short_code) WHERE status IS DISTINCT FROM 'PROCESSED'`,
      [answered],
    );
    expect(lost).toEqual([]);
    const spent = await cluster.rows.query<{ worker_id: string }>(
      `SELECT DISTINCT worker_id FROM task_executions WHERE status = 'FAILED' AND error <> 'interrupted'`,
    );
    expect(spent.length).toBeLessThanOrEqual(kills);
    print(
      `${answered.length} pastes while ${ended.size} workers ended, ${kills} of them killed: ${lost.length} lost`,
    );
  }, 300_000);
});

const ended = new Set<Service>();
const isRunning = (worker: Service): boolean => !ended.has(worker);

/** Waits until `more` further pastes of `answered` are settled. */
async function untilMoreSettled(answered: readonly string[], more: number): Promise<void> {
  const settled = async () => {
    const [row] = await cluster.rows.query<{ count: number }>(
      `SELECT count(*)::int FROM pastes WHERE status = 'PROCESSED' AND short_code = ANY ($1)`,
      [answered],
    );
    return row!.count;
  };
  const before = await settled();
  await cluster.until(settled, (now) => now >= before + more, { within: 60_000 });
}

const ACTIONS = ['SendMessageBatch', 'ReceiveMessage', 'DeleteMessageBatch'];

/** The total so far of everything that a paste costs. */
async function readCosts(
  api: Service,
  workers: readonly Service[],
): Promise<Readonly<Record<string, number>>> {
  const [database] = await cluster.rows.query<Record<string, string>>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text AS wal, xact_commit::text AS transactions
     FROM pg_stat_database WHERE datname = current_database()`,
  );
  return {
    puts: cluster.s3.matching({ method: 'PUT' }).length,
    ...Object.fromEntries(ACTIONS.map((target) => [target, cluster.sqs.matching({ target }).length])),
    'bytes of WAL': Number(database!.wal),
    transactions: Number(database!.transactions),
    'ms of the api': 1000 * (await cpuSecondsOf([api.pid])),
    'ms of the workers': 1000 * (await cpuSecondsOf(workers.map(({ pid }) => pid))),
  };
}

describe('the cost of a paste under load', () => {
  it('is one put, and one receive and one delete for ten pastes', async () => {
    const count = 2000;
    await Promise.all(cluster.services.map((service) => service.kill()));
    const counted = { AWS_ENDPOINT_URL_SQS: cluster.sqs.url };
    const api = await cluster.add('api', counted);
    const workers = [
      await cluster.add('upload-worker', counted),
      await cluster.add('upload-worker', counted),
    ];
    const costs = async () => await readCosts(api, workers);
    const before = await costs();
    for (const worker of workers) worker.signal('SIGSTOP');
    await createPastes(count, cluster.apis.indexOf(api));
    for (const worker of workers) worker.signal('SIGCONT');
    await cluster.expectQuiet({ within: 60_000 });
    await sleep(1500); // a backend publishes its counters once a second
    const after = await costs();
    const perPaste = Object.fromEntries(
      Object.entries(after).map(([what, total]) => [what, (total - before[what]!) / count]),
    );
    for (const [what, amount] of Object.entries(perPaste)) print(`a paste: ${amount.toFixed(2)} ${what}`);
    expect(perPaste['puts']).toBe(1);
    expect(perPaste['ReceiveMessage']).toBeLessThan(0.2);
    expect(perPaste['DeleteMessageBatch']).toBeLessThan(0.15);
    const sizes = await cluster.rows.query<{ name: string; bytes: number }>(
      `SELECT regexp_replace(relname, '_p?\\d[\\d_]*$', '') AS name,
         (sum(pg_total_relation_size(relid)) / (SELECT count(*) FROM pastes))::int AS bytes
       FROM pg_stat_user_tables GROUP BY 1 ORDER BY 2 DESC LIMIT 5`,
    );
    for (const { name, bytes } of sizes) print(`a paste: ${bytes} bytes of ${name}`);
  }, 120_000);
});
