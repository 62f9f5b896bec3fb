import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { renewLeases } from '../../src/index.ts';
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
