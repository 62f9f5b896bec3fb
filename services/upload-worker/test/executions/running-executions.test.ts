import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, startTestPostgres, type TestPostgres } from '@pasteflow/dev-stack/testing';
import {
  claimExecutions,
  createPaste,
  settleExecutions,
  uploadSubject,
  type Database,
} from '@pasteflow/postgres';
import { RunningExecutions } from '../../src/executions/running-executions.ts';
import { newPaste, openDatabase } from '../support/database.ts';

let stack: TestPostgres;
let db: Database;

beforeAll(async () => {
  stack = await startTestPostgres();
  db = openDatabase((await createTestDatabase(stack)).url);
});

afterAll(async () => {
  await db?.destroy();
  await stack?.stop();
});

let pastes = 0;

async function claimNew(): Promise<string> {
  const shortCode = `code${(pastes += 1)}`;
  await createPaste(db, newPaste(shortCode));
  const claim = (
    await claimExecutions(db, uploadSubject, { keys: [shortCode], actor: 'w', leaseSeconds: 6 })
  ).get(shortCode);
  if (claim?.kind !== 'claimed') throw new Error('not claimed');
  return claim.execution.executionId;
}

function setUp() {
  const lost: string[] = [];
  const clock = { now: 0 };
  const running = new RunningExecutions({ db, leaseSeconds: 6, now: () => clock.now });
  const begin = (executionId: string) => running.begin(executionId, 0, () => lost.push(executionId));
  return { running, begin, lost, clock };
}

describe('the heartbeat of executions', () => {
  it('no longer renews an execution that has ended', async () => {
    const { running, begin, lost } = setUp();
    const executionId = await claimNew();
    begin(executionId);
    running.end(executionId);
    await running.renewLeases();
    expect(lost).toEqual([]);
  });

  it('renews the leases of running executions', async () => {
    const { running, begin, lost } = setUp();
    const executionId = await claimNew();
    begin(executionId);
    const leaseOf = async () =>
      (
        await db
          .selectFrom('task_executions')
          .select('lease_expires_at')
          .where('id', '=', executionId)
          .executeTakeFirst()
      )?.lease_expires_at as Date;
    const before = await leaseOf();
    await running.renewLeases();
    expect((await leaseOf()).getTime()).toBeGreaterThan(before.getTime());
    expect(lost).toEqual([]);
  });

  it('drops an execution that another process has ended', async () => {
    const { running, begin, lost } = setUp();
    const executionId = await claimNew();
    const signal = begin(executionId);
    const outcome = { kind: 'lost', error: 'worker lost' } as const;
    const nextStep = { kind: 'retry', attempt: 2, delayMs: 0 } as const;
    await settleExecutions(db, uploadSubject, [{ executionId, outcome, nextStep }], {
      actor: 'reaper',
      dispatched: false,
    });
    await running.renewLeases();
    expect(signal.aborted).toBe(true);
    expect(lost).toEqual([executionId]);
  });

  it('drops an execution when its lease has expired and Postgres does not answer', async () => {
    const { running, begin, lost, clock } = setUp();
    const executionId = await claimNew();
    const signal = begin(executionId);
    await stack.restartPostgres(async () => {
      clock.now = 5999;
      await expect(running.renewLeases()).rejects.toMatchObject({ code: 'dependency_unavailable' });
      expect(lost).toEqual([]);
      clock.now = 6000;
      await expect(running.renewLeases()).rejects.toMatchObject({ code: 'dependency_unavailable' });
    });
    expect(signal.aborted).toBe(true);
    expect(lost).toEqual([executionId]);
  });
});
