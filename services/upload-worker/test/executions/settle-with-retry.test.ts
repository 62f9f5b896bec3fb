import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, startTestStack, type TestStack } from '@pasteflow/dev-stack/testing';
import {
  claimExecutions,
  createDatabase,
  createPaste,
  isTimeout,
  settleExecutions,
  uploadSubject,
  type Database,
} from '@pasteflow/postgres';
import { lockRow } from '@pasteflow/postgres/testing';
import { DatabaseGate } from '../../src/executions/database-gate.ts';
import { RunningExecutions } from '../../src/executions/running-executions.ts';
import { settleWithRetry } from '../../src/executions/settle-with-retry.ts';
import { openDatabase } from '../support/database.ts';
import { until } from '../support/bench.ts';
import { newPaste } from '../support/new-paste.ts';

const LEASE_SECONDS = 1;

let stack: TestStack;
let db: Database;
/** Its statements are cut after a quarter of a lease. */
let impatient: Database;

beforeAll(async () => {
  stack = await startTestStack();
  const { url } = await createTestDatabase(stack);
  db = openDatabase(url);
  impatient = createDatabase({
    url,
    applicationName: 'settle-with-retry-test',
    maxConnections: 4,
    statementTimeoutMs: LEASE_SECONDS * 250,
    onConnectionError: () => {},
  });
});

/** Open transactions of a failed test would block the end of the file. */
const releases: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.allSettled(releases.splice(0).map((release) => release())));

afterAll(async () => {
  await Promise.all([db?.destroy(), impatient?.destroy()]);
  await stack?.stop();
});

/** An upload that has succeeded, and whose settlement is under way. The row of its execution is locked. */
async function settleUnderLock(shortCode: string) {
  const clock = { now: 0 };
  const running = new RunningExecutions({ db, leaseSeconds: LEASE_SECONDS, now: () => clock.now });
  await createPaste(db, newPaste(shortCode));
  const claims = await claimExecutions(db, uploadSubject, {
    keys: [shortCode],
    actor: 'w',
    leaseSeconds: LEASE_SECONDS,
  });
  const claim = claims.get(shortCode);
  if (claim?.kind !== 'claimed') throw new Error('not claimed');
  const { executionId } = claim.execution;
  running.begin(executionId, 0, () => {});
  const release = await lockRow(db, 'task_executions', executionId);
  releases.push(release);
  const errors: unknown[] = [];
  const outcome = { kind: 'succeeded', s3Url: 's3://pasteflow/pastes/a' } as const;
  const settlement = { executionId, outcome, nextStep: { kind: 'done' } } as const;
  const settled = settleWithRetry(
    { running, gate: new DatabaseGate(() => Promise.resolve()), graceOver: new AbortController().signal },
    executionId,
    async () => {
      const by = { actor: 'w', dispatched: true };
      const ended = await settleExecutions(impatient, uploadSubject, [settlement], by).catch(
        (error: unknown) => {
          errors.push(error);
          throw error;
        },
      );
      return ended.get(executionId) ?? null;
    },
  );
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
    // Eight statements of a quarter of a lease: two leases by the clock of the machine, and four by the clock of the worker.
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
