import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { makePastes } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase({ fresh: 'file' });

const insert = (subject: string, kind: string) =>
  sql`INSERT INTO task_executions (kind, subject_id, attempt) VALUES (${kind}, ${subject}::uuid, 1)`.execute(
    current.db,
  );

it('a paste may have one open execution of a kind, and any number of ended executions', async () => {
  const [paste] = await makePastes(current.db, 1, { status: 'IN_PROGRESS' });
  const { id } = paste!;
  for (let n = 0; n < 3; n++) {
    await sql`UPDATE task_executions SET status = 'RUNNING', worker_id = 'w', started_at = now(), lease_expires_at = now()
      WHERE finished_at IS NULL`.execute(current.db);
    await expect(insert(id, 'upload')).rejects.toMatchObject({ code: '23505' });
    await sql`UPDATE task_executions SET status = 'SUCCEEDED', finished_at = '2026-01-01', lease_expires_at = NULL
      WHERE finished_at IS NULL`.execute(current.db);
    await insert(id, 'upload');
  }
  await insert(id, 'job');
});
