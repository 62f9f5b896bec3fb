import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  claimExecutions,
  isLockTimeout,
  renewLeases,
  settleExecutions,
  uploadSubject,
  type Database,
} from '../../src/index.ts';
import { lockRow, makePastes } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useDatabase();

it('leases are renewed while another session has locked one of their rows, which stays owned', async () => {
  const execution = { status: 'RUNNING', leaseSeconds: 6 } as const;
  const pastes = await makePastes(current.db, 3, { status: 'IN_PROGRESS', execution });
  // The third one is run by another worker.
  const [locked, other] = pastes.map(({ executionId }) => executionId) as [string, string, string];
  const release = await lockRow(current.db, 'task_executions', locked);
  try {
    expect(await renewLeases(current.db, [locked, other], 600)).toEqual(new Set([locked, other]));
    const { rows } = await sql<{ id: string }>`
      SELECT id FROM task_executions WHERE lease_expires_at > now() + interval '1 minute'`.execute(
      current.db,
    );
    expect(rows).toEqual([{ id: other }]);
  } finally {
    await release();
  }
});

it('executions that another session locks after the search for zombies are left out of their settlement', async () => {
  const execution = { status: 'RUNNING', leaseSeconds: -1 } as const;
  const pastes = await makePastes(current.db, 2, { status: 'IN_PROGRESS', execution });
  const [locked, other] = pastes.map(({ executionId }) => executionId) as [string, string];
  const release = await lockRow(current.db, 'task_executions', locked);
  const settlements = [locked, other].map((executionId) => ({
    executionId,
    outcome: { kind: 'lost', error: 'worker lost' } as const,
    nextStep: { kind: 'retry', attempt: 1, delayMs: 0 } as const,
  }));
  const by = { actor: 'janitor/test', onlyPastLease: true, maxLockWaitMs: 1000, dispatched: false };
  try {
    const settled = await settleExecutions(current.db, uploadSubject, settlements, by);
    expect([...settled.keys()]).toEqual([other]);
  } finally {
    await release();
  }
});

it('a claim and a settlement give up on a locked row after the time that they are given', async () => {
  const [waiting] = await makePastes(current.db, 1, { status: 'IN_PROGRESS' });
  const execution = { status: 'RUNNING', leaseSeconds: 600 } as const;
  const [running] = await makePastes(current.db, 1, { status: 'IN_PROGRESS', execution });
  const maxLockWaitMs = 50;
  const settlement = {
    executionId: running!.executionId,
    outcome: { kind: 'interrupted' } as const,
    nextStep: { kind: 'retry', attempt: 1, delayMs: 0 } as const,
  };
  const statements: (readonly [string, () => Promise<unknown>])[] = [
    [
      waiting!.executionId,
      () =>
        claimExecutions(current.db, uploadSubject, {
          keys: [waiting!.shortCode],
          actor: 'w',
          leaseSeconds: 600,
          maxLockWaitMs,
        }),
    ],
    [
      running!.executionId,
      () =>
        settleExecutions(current.db, uploadSubject, [settlement], {
          actor: 'w',
          maxLockWaitMs,
          dispatched: true,
        }),
    ],
  ];
  for (const [id, run] of statements) {
    const release = await lockRow(current.db, 'task_executions', id);
    try {
      expect(isLockTimeout(await run().catch((error: unknown) => error))).toBe(true);
    } finally {
      await release();
    }
  }
});

/** Whether an execution got its lease of 600 s after the start of the transaction `tx` and before now. */
async function isLeasedSince(tx: Database, executionId: string): Promise<boolean> {
  const { rows } = await sql<{ within: boolean }>`
    SELECT lease_expires_at - interval '600 s' > now() AND lease_expires_at - interval '600 s' <= clock_timestamp() AS within
    FROM task_executions WHERE id = ${executionId}`.execute(tx);
  return rows[0]!.within;
}

it('a claim that waits for a lock takes its lease from the moment at which it gets the lock', async () => {
  const [paste] = await makePastes(current.db, 1, { status: 'IN_PROGRESS' });
  const { shortCode, executionId } = paste!;
  const release = await lockRow(current.db, 'task_executions', executionId);
  await current.db.transaction().execute(async (tx) => {
    await sql`SELECT now()`.execute(tx);
    const claim = { keys: [shortCode], actor: 'w', leaseSeconds: 600 };
    const claiming = claimExecutions(tx, uploadSubject, claim);
    try {
      await Promise.race([untilSomebodyWaits(current.db), claiming]);
    } finally {
      await release();
    }
    await claiming;
    expect(await isLeasedSince(tx, executionId)).toBe(true);
  });
});

it('a renewal that is slow renews for the whole lease from the moment at which it changes the row', async () => {
  const execution = { status: 'RUNNING', leaseSeconds: 6 } as const;
  const [paste] = await makePastes(current.db, 1, { status: 'IN_PROGRESS', execution });
  await current.db.transaction().execute(async (tx) => {
    await sql`SELECT now()`.execute(tx);
    await renewLeases(tx, [paste!.executionId], 600);
    expect(await isLeasedSince(tx, paste!.executionId)).toBe(true);
  });
});
