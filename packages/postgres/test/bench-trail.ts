import { readFileSync } from 'node:fs';
import { createTestDatabase, startTestPostgres } from '@pasteflow/dev-stack/testing';
import { webhookEventsFor } from '@pasteflow/domain';
import { sql } from 'kysely';
import {
  claimExpired,
  createPaste,
  createDatabase,
  createWebhook,
  migrate,
  settleExecutions,
  uploadSubject,
  type Database,
} from '../src/index.ts';
import { prepared } from '../src/database/prepared.ts';
import { makePastes, makeUsers, pasteToCreate } from '../src/testing/index.ts';

/**
 * `npm run proof -- bench-trail` measures what triggers cost: the same statements with the audit trail and without it,
 * and with events of webhooks, which nobody, others or the owner listens to, and without them. All run in turns, in
 * one run, each in a database of its own of one server. A figure is the first decile of the CPU time of its rounds:
 * another process, which empties the caches of the processor, only ever adds to it.
 */
interface Side {
  readonly db: Database;
  readonly userId: string;
}

/** What a database has, or lacks. */
const sides = {
  'as it is': () => Promise.resolve(),
  'without the audit trail': async (db: Database) => {
    for (const table of ['pastes', 'task_executions'])
      await sql`DROP TRIGGER ${sql.id(`record_${table}`)} ON ${sql.id(table)}`.execute(db);
  },
  'without events': (db: Database) => sql`DROP TRIGGER events_of_pastes ON pastes`.execute(db),
  'with endpoints of others': async (db: Database) => {
    for (const { id } of await makeUsers(db, 100)) await listen(db, id);
  },
  'with an endpoint of the owner': listen,
} satisfies Record<string, (db: Database, userId: string) => Promise<unknown>>;

type SideName = keyof typeof sides;

/** What is compared with what. The first may take so many times the CPU time of the second; Infinity: it is reported. */
const comparisons = ({
  trail,
  unheard,
  heard = Infinity,
}: Case): readonly (readonly [side: SideName, other: SideName, limit: number])[] => [
  ['as it is', 'without the audit trail', trail],
  ['as it is', 'without events', unheard],
  ['with endpoints of others', 'without events', heard],
  ['with an endpoint of the owner', 'without events', heard],
];

async function listen(db: Database, userId: string): Promise<void> {
  await createWebhook(db, { userId, url: 'https://hooks.example.com/', events: webhookEventsFor('owner') });
}

interface Case {
  readonly name: string;
  readonly rounds: number;
  /** Makes what the statement needs, and gives the statement. */
  readonly prepare: (side: Side) => Promise<() => Promise<number>>;
  readonly rows: number;
  /** What the audit trail may cost. It costs a create nothing, and adds a quarter to a claim of many rows. */
  readonly trail: number;
  /** What events that nobody listens to may cost. A figure of a few rounds is off by more than 3 %. */
  readonly unheard: number;
  /** What they may cost where others or the owner listen. Default: it is reported. */
  readonly heard?: number;
}

const cases: readonly Case[] = [
  {
    name: 'creating a paste', // which is told to nobody: its upload is
    rounds: 1000,
    rows: 1,
    trail: 1.05,
    unheard: 1.03,
    heard: 1.03,
    prepare: ({ db, userId }) => {
      const paste = pasteToCreate({ userId });
      return Promise.resolve(async () => ((await createPaste(db, paste)) === null ? 0 : 1));
    },
  },
  {
    name: 'settling 10 uploads',
    rounds: 400,
    rows: 10,
    trail: 1.4, // measured on a busy machine: 24 to 33 %; two triggers, each of which prepares a join and two inserts for ten rows
    unheard: 1.03,
    prepare: async ({ db, userId }) => {
      const made = await makePastes(db, 10, {
        userId,
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
    trail: 1.3,
    unheard: 1.1,
    prepare: async ({ db, userId }) => {
      await makePastes(db, 1000, { userId, status: 'PROCESSED', expiresInSeconds: -5 });
      return async () => (await claimExpired(db, { actor: 'bench', limit: 1000 })).length;
    },
  },
];

/** The CPU time of its backend so far, in ms. */
async function cpuMsOf({ db }: Side): Promise<number> {
  const { rows } = await sql<{ pid: number }>`${prepared}SELECT pg_backend_pid() AS pid`.execute(db);
  const pid = rows[0]?.pid;
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

async function measure(made: Readonly<Record<SideName, Side>>, each: Case): Promise<boolean> {
  const { name, rows, rounds, prepare } = each;
  const names = Object.keys(made) as SideName[];
  const times = Object.fromEntries(names.map((side) => [side, [] as number[]])) as Record<SideName, number[]>;
  const warming = Math.ceil(rounds / 10);
  for (let round = -warming; round < rounds; round++) {
    const first = (round + warming) % names.length;
    for (const side of [...names.slice(first), ...names.slice(0, first)]) {
      const run = await prepare(made[side]);
      const before = await cpuMsOf(made[side]);
      const changed = await run();
      const took = (await cpuMsOf(made[side])) - before;
      if (changed !== rows) throw new Error(`${name} changed ${changed} rows`);
      if (round >= 0) times[side].push(took);
    }
  }
  let isGood = true;
  for (const [side, other, limit] of comparisons(each)) {
    const [on, off] = [firstDecile(times[side]), firstDecile(times[other])];
    const percent = (ratio: number): string => `${((ratio - 1) * 100).toFixed(1)} %`;
    const allowed = limit === Infinity ? '' : `, at most ${percent(limit)}`;
    process.stdout.write(
      `${name} ${side}: ${on.toFixed(2)} ms, ${other}: ${off.toFixed(2)} ms: ${percent(on / off)} more${allowed}\n`,
    );
    isGood &&= on / off <= limit;
  }
  return isGood;
}

const firstDecile = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 10)] ?? NaN;

const stack = await startTestPostgres();

/** A migrated database; one connection, as a service uses it again and again, with plans that it keeps. */
async function makeSide(name: SideName): Promise<Side> {
  const { url } = await createTestDatabase(stack, { migrated: false });
  const db = createDatabase({
    url,
    applicationName: 'bench',
    maxConnections: 1,
    statementTimeoutMs: 0,
    onConnectionError: () => {}, // the server is stopped first
  });
  await migrate(db);
  const [user] = await makeUsers(db, 1);
  const userId = user!.id;
  await sides[name](db, userId);
  return { db, userId };
}

const made = {} as Record<SideName, Side>;
try {
  for (const name of Object.keys(sides) as SideName[]) made[name] = await makeSide(name);
  for (const each of cases) if (!(await measure(made, each))) process.exitCode = 1;
} finally {
  await Promise.all(Object.values(made).map(({ db }) => db.destroy()));
  await stack.stop();
}
