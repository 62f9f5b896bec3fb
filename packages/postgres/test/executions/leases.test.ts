import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { renewLeases, settleExecutions, uploadSubject } from '../../src/index.ts';
import { lockRow, makePastes } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase();

it('leases are renewed while another session has locked one of their rows, which stays owned', async () => {
  const execution = { status: 'RUNNING', leaseSeconds: 6 } as const;
  const pastes = await makePastes(current.db, 2, { status: 'IN_PROGRESS', execution });
  const [locked, other] = pastes.map(({ executionId }) => executionId) as [string, string];
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
