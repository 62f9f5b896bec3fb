import { createDatabase, type Database, type DatabaseOptions } from '@pasteflow/postgres';
import { lockRow, makeJobs, makePastes, type MadePaste } from '@pasteflow/postgres/testing';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { SweptWork, WorkQueue } from '../src/sweeps/queues/work-queue.ts';
import { createReapExecutions } from '../src/sweeps/reap-executions.ts';
import { createRelay } from '../src/sweeps/relay.ts';
import { drain } from './messages.ts';
import { useWorld, running, UPLOADS } from './world.ts';

const world = useWorld();

const reaperOf = (work: readonly SweptWork[], actor = 'janitor/test') =>
  createReapExecutions({ work, actor, random: () => 0.5, logger: world.log });
const reaper = (actor?: string) => reaperOf(world.work, actor);
const zombies = (count: number, attempt = 1, losses = 0) =>
  makePastes(world.db, count, {
    status: 'IN_PROGRESS',
    execution: { status: 'RUNNING', attempt, losses, workerId: 'upload-worker/dead', leaseSeconds: -1 },
  });
const nothing = { lost: 0, rescued: 0, given_up: 0, dispatched: 0, outrun: 0 };

/** Runs with a database whose options differ from the world's. */
async function withDatabase<T>(
  options: Pick<DatabaseOptions, 'onStatement' | 'statementTimeoutMs'>,
  run: (db: Database) => Promise<T>,
): Promise<T> {
  const db = createDatabase({
    url: world.databaseUrl,
    applicationName: 'janitor-test',
    maxConnections: 5,
    onConnectionError: () => {},
    ...options,
  });
  try {
    return await run(db);
  } finally {
    await db.destroy();
  }
}

const executionsOf = (paste: MadePaste | undefined) =>
  world.db
    .selectFrom('task_executions')
    .select(['attempt', 'losses', 'status', 'error', 'dispatched_at'])
    .select(sql<number>`round(extract(epoch FROM run_at - created_at))::integer`.as('waits'))
    .where('subject_id', '=', paste?.id ?? '')
    .orderBy('created_at')
    .orderBy('losses')
    .execute();

describe('reap-executions', () => {
  it('ends the execution of a crashed worker, spends no attempt, and sends the message of the next execution', async () => {
    const [paste] = await zombies(1, 2);
    expect(await reaper().runOnce(running())).toEqual({ ...nothing, lost: 1, rescued: 1, dispatched: 1 });
    expect(await executionsOf(paste)).toMatchObject([
      { attempt: 2, losses: 0, status: 'FAILED', error: 'worker lost: upload-worker/dead' },
      // 1 s after the end of the lease
      { attempt: 2, losses: 1, status: 'PENDING', waits: 0, dispatched_at: expect.any(Date) },
    ]);
    expect(await drain(world, UPLOADS)).toEqual([JSON.stringify({ shortCode: paste?.shortCode })]);
  });

  it.each([1, 6, 500])(
    'never gives up an upload: after %s losses it waits for its sixth attempt',
    async (losses) => {
      const [paste] = await zombies(1, 6, losses);
      expect(await reaper().runOnce(running())).toMatchObject({ lost: 1, rescued: 1, given_up: 0 });
      expect((await executionsOf(paste))[1]).toMatchObject({
        attempt: 6,
        losses: losses + 1,
        status: 'PENDING',
        waits: Math.min(60, 2 ** losses) - 1, // the lease expired a second ago
      });
      expect(await world.db.selectFrom('pastes').select('status').execute()).toEqual([
        { status: 'IN_PROGRESS' },
      ]);
      expect(await world.db.selectFrom('paste_payloads').select('paste_id').execute()).toHaveLength(1);
    },
  );

  it('logs an error that names what is lost for the fourth time, and nothing before', async () => {
    const errors = () => world.log.lines.filter(({ level }) => level === 'error');
    const queues = world.queuesOn(world.db); // of its own: at most one line a second
    const reap = () => reaperOf(queues).runOnce(running());
    await zombies(3, 1, 2);
    await reap();
    expect(errors()).toEqual([]);
    const lost = await zombies(2, 1, 3);
    await reap();
    const [line, ...more] = errors();
    expect(line).toMatchObject({ message: 'uploads lost more than 3 times', fields: { count: 2 } });
    const shortCodes = lost.map(({ shortCode }) => shortCode);
    expect((line!.fields.short_codes as string[]).toSorted()).toEqual(shortCodes.toSorted());
    expect(more).toEqual([]);
  });

  it('counts what it sends for uploads and for jobs at the same time', async () => {
    await zombies(1);
    const execution = { status: 'RUNNING', workerId: 'upload-worker/dead', leaseSeconds: -1 } as const;
    await makeJobs(world.db, 1, { userId: world.userId, status: 'processing', execution });
    const sending = Promise.withResolvers<void>();
    let begun = 0;
    // Each queue sends only when the other one is about to send, too.
    const queues = world.queues.map((queue) => ({
      ...queue,
      endZombies: async (...args: Parameters<WorkQueue['endZombies']>) => {
        const { found, ended } = await queue.endZombies(...args);
        const dispatch = async (signal: AbortSignal) => {
          begun += 1;
          if (begun === world.queues.length) sending.resolve();
          await sending.promise;
          return await ended.successors.dispatch(signal);
        };
        return { found, ended: { ...ended, successors: { ...ended.successors, dispatch } } };
      },
    }));
    expect(await reaperOf(queues).runOnce(running())).toEqual({
      ...nothing,
      lost: 2,
      rescued: 2,
      dispatched: 2,
    });
  });

  it('ends no execution with a valid lease', async () => {
    expect(await reaper().runOnce(running())).toEqual(nothing);
    await makePastes(world.db, 3, {
      status: 'IN_PROGRESS',
      execution: { status: 'RUNNING', leaseSeconds: 60 },
    });
    expect(await reaper().runOnce(running())).toEqual(nothing);
  });

  it.each(['task_executions', 'pastes'] as const)(
    'rescues the others at once while a row of %s is locked, and ends no execution whose lease is renewed under the lock',
    async (table) => {
      const [first, ...others] = await zombies(11);
      const release = await lockRow(world.db, table, table === 'pastes' ? first!.id : first!.executionId);
      const expected = table === 'pastes' ? 11 : 10; // a loss changes no paste
      expect(await reaper().runOnce(running())).toMatchObject({ lost: expected, rescued: expected });
      for (const paste of others) expect(await executionsOf(paste)).toHaveLength(2);
      await release();
      expect(await reaper().runOnce(running())).toMatchObject({ lost: 11 - expected });
    },
  );

  it('ends a job whose row is locked later, and the other jobs at once', async () => {
    const dead = { status: 'RUNNING', losses: 5, leaseSeconds: -1 } as const;
    const jobs = await makeJobs(world.db, 11, {
      userId: world.userId,
      status: 'processing',
      execution: dead,
    });
    const release = await lockRow(world.db, 'jobs', jobs[0]!.id);
    expect(await reaper().runOnce(running())).toMatchObject({ lost: 10, given_up: 10 });
    await release();
    expect(await reaper().runOnce(running())).toMatchObject({ lost: 1, given_up: 1 });
  });

  it('settles the others in one statement, without waiting, while the row of an execution is locked', async () => {
    const [first] = await zombies(11);
    const release = await lockRow(world.db, 'task_executions', first!.executionId);
    let settlements = 0;
    const onStatement = ({ query }: { readonly query: { readonly sql: string } }) => {
      if (query.sql.includes('lock_limit AS')) settlements += 1;
    };
    const { lost } = await withDatabase({ onStatement }, (db) =>
      reaperOf(world.queuesOn(db)).runOnce(running()),
    );
    expect([lost, settlements]).toEqual([10, 1]);
    await release();
  });

  it('ends row by row what a statement timeout has cut as a group, before the wait for the lock was over', async () => {
    const dead = { status: 'RUNNING', losses: 5, leaseSeconds: -1 } as const;
    const jobs = await makeJobs(world.db, 6, {
      userId: world.userId,
      status: 'processing',
      execution: dead,
    });
    const release = await lockRow(world.db, 'jobs', jobs[0]!.id);
    const codes = new Set<unknown>();
    const onStatement: DatabaseOptions['onStatement'] = (event) => {
      if (event.level === 'error') codes.add((event.error as { cause?: { code?: string } }).cause?.code);
    };
    await withDatabase({ onStatement, statementTimeoutMs: 900 }, async (db) => {
      const impatient = reaperOf(world.queuesOn(db));
      let ended = 0;
      // A slow machine needs more than one run
      while (ended < 5) ended += (await impatient.runOnce(running())).lost ?? 0;
    });
    expect(codes).toEqual(new Set(['57014']));
    await release();
    expect(await reaper().runOnce(running())).toMatchObject({ lost: 1, given_up: 1 });
  });

  it('counts each execution once when two janitors reap concurrently without the sweep lock', async () => {
    await zombies(700);
    const counts = await Promise.all(['a', 'b'].map((name) => reaper(`janitor/${name}`).runOnce(running())));
    expect(counts.map(({ lost }) => lost).reduce((a = 0, b = 0) => a + b)).toBe(700);
    const { rows } = await sql<{ status: string; count: number }>`
      SELECT status, count(*)::int FROM task_executions GROUP BY status ORDER BY status`.execute(world.db);
    expect(rows).toEqual([
      { status: 'FAILED', count: 700 },
      { status: 'PENDING', count: 700 },
    ]);
    expect(await drain(world, UPLOADS)).toHaveLength(700);
  });

  it('rescues uploads while SQS is down, and leaves the messages to the relay', async () => {
    const [paste] = await zombies(1);
    const restore = world.proxy.rule({ target: 'SendMessageBatch' }, { kind: 'fail', status: 500 });
    expect(await reaper().runOnce(running())).toEqual({ ...nothing, lost: 1, rescued: 1 });
    expect(world.log.lines).toMatchObject([
      { level: 'warn', message: 'upload attempt failed', fields: { outcome: 'lost', next_step: 'retry' } },
      { level: 'warn', message: 'messages of rescued uploads left to the relay' },
    ]);
    restore();
    await sql`UPDATE task_executions SET run_at = run_at - interval '5 seconds' WHERE status = 'PENDING'`.execute(
      world.db,
    );
    const relay = createRelay({ ...world, relayGraceSeconds: 1, relayRedispatchAfterSeconds: 30 });
    expect(await relay.runOnce(running())).toMatchObject({ sent: 1 });
    expect(await executionsOf(paste)).toMatchObject([
      { status: 'FAILED' },
      { status: 'PENDING', dispatched_at: expect.any(Date) },
    ]);
  });
});
