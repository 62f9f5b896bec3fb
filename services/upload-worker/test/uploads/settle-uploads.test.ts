import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, startTestPostgres, type TestPostgres } from '@pasteflow/dev-stack/testing';
import {
  createDatabase,
  isTimeout,
  settleExecutions,
  uploadSubject,
  type Database,
  type UploadSettlement,
} from '@pasteflow/postgres';
import { breakWaitingConnections, lockRow, refuseUpdates } from '@pasteflow/postgres/testing';
import { ReceiveGate } from '../../src/executions/receive-gate.ts';
import { RunningExecutions } from '../../src/executions/running-executions.ts';
import { UploadSettler } from '../../src/uploads/settle-uploads.ts';
import { until } from '../support/bench.ts';
import { claimed, openDatabase, workerOn } from '../support/database.ts';

let stack: TestPostgres;
let worker: ReturnType<typeof workerOn>;
let other: Database;
/** Its statements are cut after a quarter of a lease. */
let impatient: Database;

const LEASE_SECONDS = 1;

beforeAll(async () => {
  stack = await startTestPostgres();
  const { url } = await createTestDatabase(stack);
  worker = workerOn(url);
  other = openDatabase(url);
  impatient = createDatabase({
    url,
    applicationName: 'impatient-worker',
    maxConnections: 4,
    statementTimeoutMs: LEASE_SECONDS * 250,
    onConnectionError: () => {},
  });
});

/** Open transactions of a failed test would block the end of the file. */
const releases: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.allSettled(releases.splice(0).map((release) => release())));

afterAll(async () => {
  await Promise.all([worker?.db.destroy(), other?.destroy(), impatient?.destroy()]);
  await stack?.stop();
});

const stored = (executionId: string): UploadSettlement => ({
  executionId,
  outcome: { kind: 'succeeded', s3Url: `s3://pasteflow/${executionId}` },
  nextStep: { kind: 'done' },
});

/**
 * Settlements that arrive together: the last one is the end of what this worker puts. Whatever joins others
 * after their statement waits for a minute.
 */
function settleTogether(executionIds: readonly string[], { lingerMs = 60_000 } = {}) {
  const errors: unknown[] = [];
  let left = executionIds.length;
  const settler = new UploadSettler({
    worker,
    events: { dependencyFailed: (_what, error) => void errors.push(error) },
    lingerMs,
    isIdle: () => left === 0 && sizes().length === 0,
  });
  worker.statements.length = 0;
  /** How many settlements each statement had so far. */
  const sizes = () =>
    worker.statements
      .filter(({ text }) => text.includes('ending AS MATERIALIZED'))
      .map(({ parameters }) => parameters.find((each) => Array.isArray(each))?.length as number);
  const settled = executionIds.map((id) => {
    left -= 1;
    return settler.settle(stored(id));
  });
  return { settled, errors, sizes };
}

const codes = (name: string) => Array.from({ length: 25 }, (_, n) => `${name}${n}`);

const stateOf = async (executionId: string) =>
  (
    await worker.db
      .selectFrom('task_executions')
      .select('status')
      .where('id', '=', executionId)
      .executeTakeFirstOrThrow()
  ).status;

describe('uploads that end together', () => {
  it('are settled by one statement, and each learns whether its own settlement counted', async () => {
    const [lost = '', ...others] = await claimed(worker, codes('own'));
    await settleExecutions(worker.db, uploadSubject, [stored(lost)], { actor: 'other', dispatched: true });
    const { settled, sizes } = settleTogether([lost, ...others]);
    const [first, ...rest] = await Promise.all(settled);
    expect(first).toBeNull();
    expect(rest.map((each) => each?.executionId)).toEqual(others);
    expect(sizes()).toEqual([25]);
  });

  it.each(['task_executions', 'pastes'] as const)(
    'are not delayed by a locked row of %s, which alone waits for its release, and no later group waits for it',
    async (table) => {
      const [stuck = '', ...others] = await claimed(worker, codes(`${table[0]}lock`));
      const { subject_id: pasteId } = await worker.db
        .selectFrom('task_executions')
        .select('subject_id')
        .where('id', '=', stuck)
        .executeTakeFirstOrThrow();
      const release = await lockRow(other, table, table === 'pastes' ? pasteId : stuck);
      releases.push(release);
      const { settled, errors } = settleTogether([stuck, ...others]);
      const [waiting, ...rest] = settled;
      expect((await Promise.all(rest)).map((each) => each?.status)).toEqual(others.map(() => 'PROCESSED'));
      expect(await stateOf(stuck)).toBe('RUNNING');
      // The group, and the locked row alone, again and again.
      while (errors.length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
      const later = settleTogether(await claimed(worker, codes(`${table[0]}late`)));
      await Promise.all(later.settled);
      expect(later.errors).toEqual([]);
      await release();
      expect(await waiting).toMatchObject({ executionId: stuck, status: 'PROCESSED' });
    },
  );

  it.each([
    ['refuses', '23514'],
    ["can't write", '58030'],
  ])('are not touched by one that Postgres %s', async (_name, sqlstate) => {
    const [bad = '', ...others] = await claimed(worker, codes(`bad${sqlstate}`));
    const allow = await refuseUpdates(other, bad, sqlstate);
    releases.push(allow);
    const { settled, sizes } = settleTogether([bad, ...others]);
    const [refused, ...rest] = settled;
    expect((await Promise.all(rest)).map((each) => each?.status)).toEqual(others.map(() => 'PROCESSED'));
    expect(await stateOf(bad)).toBe('RUNNING');
    // A statement is counted when it has ended, and that of the bad one may be the last.
    const counted = await until(sizes, ({ length }) => length >= 26);
    expect(counted.slice(0, 26)).toEqual([25, ...[bad, ...others].map(() => 1)]);
    await allow();
    expect(await refused).toMatchObject({ executionId: bad, status: 'PROCESSED' });
  });

  it('are settled anew when their connections break, for as long as their leases last', async () => {
    const ids = await claimed(worker, codes('away'));
    const release = await lockRow(other, 'task_executions', ids[0]!);
    releases.push(release);
    const { settled, errors } = settleTogether(ids, { lingerMs: 100 }); // they are settled together again
    while ((await breakWaitingConnections(other, 'worker-under-test')) === 0)
      await new Promise((resolve) => setTimeout(resolve, 5));
    while (errors.length < 1) await new Promise((resolve) => setTimeout(resolve, 20));
    await release();
    const states = (await Promise.all(settled)).map((each) => each?.status);
    expect(states).toEqual(ids.map(() => 'PROCESSED'));
  });
});

/**
 * An upload whose settlement is under way, by a worker with a clock of its own. The row of its execution is
 * locked.
 */
async function settleUnderLock(shortCode: string) {
  const clock = { now: 0 };
  const running = new RunningExecutions({
    db: other,
    leaseSeconds: LEASE_SECONDS,
    now: () => clock.now,
  });
  const [executionId = ''] = await claimed({ db: other, running }, [shortCode]);
  const release = await lockRow(other, 'task_executions', executionId);
  releases.push(release);
  const errors: unknown[] = [];
  const settler = new UploadSettler({
    worker: {
      db: impatient,
      actor: 'w',
      running,
      gate: new ReceiveGate(() => Promise.resolve(true)),
      graceOver: new AbortController().signal,
    },
    events: { dependencyFailed: (_what, error) => void errors.push(error) },
    lingerMs: 0,
    isIdle: () => true,
  });
  const settled = settler.settle(stored(executionId));
  let isOver = false;
  void settled.then(() => (isOver = true));
  const failures = (count: number) =>
    until(
      () => errors.length,
      (failed) => failed >= count || isOver,
    );
  return { clock, running, release, errors, settled, failures, executionId };
}

describe('a settlement that does not get its row in time', () => {
  it('is repeated for as long as its lease is renewed, over many leases, and counts after the release', async () => {
    const { clock, running, release, errors, settled, failures, executionId } =
      await settleUnderLock('renewed');
    // Eight statements of a quarter of a lease: two leases by the clock of the machine, and four by the clock
    // of the worker.
    for (let half = 1; half <= 8; half++) {
      await failures(half);
      clock.now += LEASE_SECONDS * 500;
      await running.renewLeases();
    }
    await release();
    expect(await settled).toMatchObject({ executionId, status: 'PROCESSED' });
    expect(errors.filter((error) => !isTimeout(error))).toEqual([]);
  });

  it('is given up when the process no longer runs its execution', async () => {
    const { running, release, settled, failures, executionId } = await settleUnderLock('lost');
    await failures(2);
    running.end(executionId);
    expect(await settled).toBeNull();
    await release();
  });
});
