import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  claimExecutions,
  settleExecutions,
  stampDispatched,
  uploadSubject,
  type Database,
} from '../../src/index.ts';
import { lockRow, makePastes } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';
import { untilSomebodyWaits } from '../support/locks.ts';
import { byPlainScans } from '../support/plain-scans.ts';

const current = useDatabase();

interface Upload {
  readonly shortCode: string;
  readonly executionId: string;
}

const running = { execution: { status: 'RUNNING', leaseSeconds: 600 } } as const;

const idsOf = (uploads: readonly Upload[]): string[] => uploads.map(({ executionId }) => executionId);

const claim = (db: Database, uploads: readonly Upload[]) =>
  claimExecutions(db, uploadSubject, {
    keys: uploads.map(({ shortCode }) => shortCode),
    actor: 'w',
    leaseSeconds: 600,
  });

const settle = (db: Database, uploads: readonly Upload[]) =>
  settleExecutions(
    db,
    uploadSubject,
    idsOf(uploads).map((executionId) => ({
      executionId,
      outcome: { kind: 'succeeded', s3Url: 's3://bucket/key' } as const,
      nextStep: { kind: 'done' } as const,
    })),
    { actor: 'w', dispatched: true },
  );

// Two statements that lock the same rows in different orders would end in a deadlock, which Postgres resolves
// after a second by failing one.
it.each([
  ['a claim', {}, claim],
  ['a settlement', running, settle],
  ['a dispatch stamp', {}, (db: Database, uploads: readonly Upload[]) => stampDispatched(db, idsOf(uploads))],
])('%s locks its executions in the order of their ids', async (_, state, run) => {
  const pastes = await makePastes(current.db, 30, { status: 'IN_PROGRESS', ...state });
  const byId = pastes.toSorted((a, b) => (a.executionId < b.executionId ? -1 : 1));
  // The last in each table, so that a scan doesn't find the rows in the order of their ids.
  await sql`UPDATE task_executions SET attempt = 2 WHERE id = ${byId[0]!.executionId}`.execute(current.db);
  await sql`UPDATE pastes SET title = 'moved' WHERE id = ${byId[0]!.id}`.execute(current.db);
  const release = await lockRow(current.db, 'task_executions', byId[0]!.executionId);
  // Uploads are named by their messages, in any order: here in the reverse one.
  const statement = byPlainScans<unknown>(current.db, (db) => run(db, byId.toReversed()));
  try {
    await Promise.race([untilSomebodyWaits(current.db), statement]);
    const { rows } = await sql`SELECT FROM task_executions FOR UPDATE SKIP LOCKED`.execute(current.db);
    expect(rows).toHaveLength(29); // it waits for the first, and has locked none of the others
  } finally {
    await release();
    await statement;
  }
});
