import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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
    statementTimeoutMs: LEASE_SECONDS * 250,
    onConnectionError: () => {},
  });
});

afterAll(async () => {
  await Promise.all([db?.destroy(), impatient?.destroy()]);
  await stack?.stop();
});

/** One upload that has succeeded, whose row is locked, and whose settlement is under way. */
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
  const errors: unknown[] = [];
  const outcome = { kind: 'succeeded', s3Url: 's3://pasteflow/pastes/a' } as const;
  const settled = settleWithRetry(
    { running, gate: new DatabaseGate(() => Promise.resolve()), graceOver: new AbortController().signal },
    [{ executionId, outcome, nextStep: { kind: 'done' } }],
    {
      settle: (settlements) =>
        settleExecutions(impatient, uploadSubject, settlements, { actor: 'w', dispatched: true }),
      onError: (error) => errors.push(error),
    },
  );
  const failures = (count: number) =>
    until(
      () => errors.length,
      (failed) => failed >= count,
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
    expect([...(await settled).keys()]).toEqual([executionId]);
    expect(errors.filter((error) => !isTimeout(error))).toEqual([]);
  });

  it('is given up when the process no longer runs its execution', async () => {
    const { running, release, settled, failures, executionId } = await settleUnderLock('lost');
    await failures(2);
    running.end(executionId);
    expect(await settled).toEqual(new Map());
    await release();
  });
});
