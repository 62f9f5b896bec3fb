import pg from 'pg';
import { cpuOf, startBenchCluster, type BenchCluster } from './costs.ts';
import { measureCreates } from './measure.ts';

const CREATES_IN_ROUND = 2000;
/** So that the processes have compiled their hot code. */
const WARM_UP = 4000;
/** Of the creates a second that the same run has without held snapshots. */
const LEAST_SHARE = 0.8;

interface Side {
  readonly cluster: BenchCluster;
  readonly rates: number[];
  readonly cpuMs: number[];
}

/**
 * Creates pastes in turns on two clusters. On one of them a transaction is idle all the time, one dump follows
 * the other, and nobody reads a replication slot.
 *
 * @returns whether the creates a second with held snapshots are at least {@link LEAST_SHARE} of those without
 */
export async function compareHeldSnapshots(
  free: BenchCluster,
  minutes: number,
  print: (line: string) => void,
): Promise<boolean> {
  const held = await startBenchCluster();
  const holders = new Holders(held.stack.databaseUrl);
  try {
    const sides = [free, held].map((cluster): Side => ({ cluster, rates: [], cpuMs: [] }));
    for (const { cluster } of sides) await measureCreates(cluster, { count: WARM_UP });
    await holders.start();
    const endAt = performance.now() + minutes * 60_000;
    for (let round = 1; performance.now() < endAt; round += 1) {
      // The first of a turn has the quieter machine now and then: each side is the first in every second turn.
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) await createOn(side);
      print(
        `round ${round}: ${lineOf(sides, (values) => values.at(-1) ?? NaN)}, ${await deadRowsOf(held)} dead rows`,
      );
    }
    print(`median: ${lineOf(sides, median)}; ${holders.dumps} dumps`);
    const [without, withHeld] = sides.map(({ rates }) => median(rates)) as [number, number];
    print(`${Math.round((100 * withHeld) / without)} % of the creates a second are left`);
    return withHeld >= LEAST_SHARE * without;
  } finally {
    await holders.stop();
    await held.stop();
  }
}

async function createOn({ cluster, rates, cpuMs }: Side): Promise<void> {
  const startedAt = performance.now();
  const { costs } = await measureCreates(cluster, { count: CREATES_IN_ROUND });
  rates.push((1000 * CREATES_IN_ROUND) / (performance.now() - startedAt));
  cpuMs.push(cpuOf(costs));
}

function lineOf(sides: readonly Side[], of: (values: readonly number[]) => number): string {
  return sides
    .map(({ rates, cpuMs }, side) => {
      const figures = `${of(rates).toFixed(0)} stored a second, ${of(cpuMs).toFixed(2)} ms of CPU time each`;
      return `${side === 0 ? 'without' : 'with held snapshots'} ${figures}`;
    })
    .join('; ');
}

async function deadRowsOf({ rows }: BenchCluster): Promise<number> {
  const [sum] = await rows.query<{ dead: number }>(
    'SELECT coalesce(sum(n_dead_tup), 0)::float8 AS dead FROM pg_stat_user_tables',
  );
  return sum?.dead ?? NaN;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

/** What keeps dead rows and WAL: an idle transaction, dumps one after the other, a slot that nobody reads. */
class Holders {
  dumps = 0;
  readonly #idle: pg.Client;
  readonly #dumping: pg.Client;
  #isStopped = false;
  #dumped: Promise<void> = Promise.resolve();

  constructor(url: string) {
    [this.#idle, this.#dumping] = [1, 2].map(() => new pg.Client({ connectionString: url })) as [
      pg.Client,
      pg.Client,
    ];
  }

  async start(): Promise<void> {
    for (const client of [this.#idle, this.#dumping]) {
      await client.connect();
      await client.query('SET idle_in_transaction_session_timeout = 0; SET statement_timeout = 0');
    }
    await this.#idle.query(`SELECT pg_create_physical_replication_slot('nobody_reads', true)`);
    await this.#idle.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await this.#idle.query('SELECT FROM pastes LIMIT 1');
    this.#dumped = this.#dumpAgainAndAgain();
  }

  /** As pg_dump does: it copies every table in one transaction. */
  async #dumpAgainAndAgain(): Promise<void> {
    const { rows } = await this.#dumping.query<{ name: string }>(
      `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
    );
    while (!this.#isStopped) {
      await this.#dumping.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      for (const { name } of rows) await this.#dumping.query(`COPY ${name} TO '/dev/null'`);
      await this.#dumping.query('COMMIT');
      this.dumps += 1;
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#dumped;
    await Promise.all([this.#idle.end(), this.#dumping.end()]);
  }
}
