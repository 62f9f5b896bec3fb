import { createTestDatabase, startTestPostgres } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import {
  claimExpired,
  createDatabase,
  migrate,
  settleExecutions,
  uploadSubject,
  type Database,
} from '../src/index.ts';
import { makePastes } from '../src/testing/index.ts';

/**
 * `npm run proof -- bench-trail` measures what the audit trail costs: the same statements with and without
 * the recorder trigger, in turns, in one run on two databases of one server. A figure is the median of its
 * rounds.
 */
const MAX_RATIO = 1.3;

interface Case {
  readonly name: string;
  readonly rounds: number;
  /** Makes what the statement needs, and gives the statement. */
  readonly prepare: (db: Database) => Promise<() => Promise<number>>;
  readonly rows: number;
}

const cases: readonly Case[] = [
  {
    name: 'settling 10 uploads',
    rounds: 400,
    rows: 10,
    prepare: async (db) => {
      const made = await makePastes(db, 10, {
        status: 'IN_PROGRESS',
        execution: { status: 'RUNNING', leaseSeconds: 60 },
      });
      const settlements = made.map(({ executionId }) => ({
        executionId,
        outcome: { kind: 'succeeded' as const, s3Url: 's3://b/k' },
        nextStep: { kind: 'done' as const },
      }));
      return async () =>
        (await settleExecutions(db, uploadSubject, settlements, { actor: 'bench', dispatched: true })).size;
    },
  },
  {
    name: 'claiming 1000 for deletion',
    rounds: 30,
    rows: 1000,
    prepare: async (db) => {
      await makePastes(db, 1000, { status: 'PROCESSED', expiresInSeconds: -5 });
      return async () => (await claimExpired(db, { actor: 'bench', limit: 1000 })).length;
    },
  },
];

interface Sides {
  readonly with: Database;
  readonly without: Database;
}

async function measure(sides: Sides, { name, rows, rounds, prepare }: Case): Promise<boolean> {
  const times = { with: [] as number[], without: [] as number[] };
  const warming = Math.ceil(rounds / 10);
  for (let round = -warming; round < rounds; round++) {
    for (const side of round % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const)) {
      const run = await prepare(sides[side]);
      const startedAt = performance.now();
      const changed = await run();
      const took = performance.now() - startedAt;
      if (changed !== rows) throw new Error(`${name} changed ${changed} rows`);
      if (round >= 0) times[side].push(took);
    }
  }
  const [on, off] = [median(times.with), median(times.without)];
  const ratio = on / off;
  process.stdout.write(
    `${name}: ${on.toFixed(2)} ms with the audit trail, ${off.toFixed(2)} ms without: ${((ratio - 1) * 100).toFixed(0)} % more\n`,
  );
  return ratio <= MAX_RATIO;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

const stack = await startTestPostgres();

/** A migrated database; one connection, as a service uses it again and again, with plans that it keeps. */
async function makeDatabase(): Promise<Database> {
  const { url } = await createTestDatabase(stack, { migrated: false });
  const db = createDatabase({
    url,
    applicationName: 'bench',
    maxConnections: 1,
    statementTimeoutMs: 0,
    onConnectionError: () => {}, // the server is stopped first
  });
  await migrate(db);
  return db;
}

const sides: Sides = { with: await makeDatabase(), without: await makeDatabase() };
try {
  for (const table of ['pastes', 'task_executions'])
    await sql`DROP TRIGGER ${sql.id(`record_${table}`)} ON ${sql.id(table)}`.execute(sides.without);
  for (const each of cases) if (!(await measure(sides, each))) process.exitCode = 1;
  if (process.exitCode === 1) process.stdout.write(`more than ${Math.round((MAX_RATIO - 1) * 100)} %\n`);
} finally {
  await Promise.all([sides.with.destroy(), sides.without.destroy()]);
  await stack.stop();
}
