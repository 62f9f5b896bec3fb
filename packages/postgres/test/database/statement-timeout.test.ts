import { expect, it } from '@jest/globals';
import { DependencyUnavailableError } from '@pasteflow/domain';
import { sql } from 'kysely';
import { open, useOwnServer } from '../support/database.ts';

const current = useOwnServer();

it('a statement without an answer fails as if Postgres were unavailable, and its connection is not reused', async () => {
  const db = open(current.url, 1, 2000);
  const backend = async (): Promise<number> => {
    const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(db);
    return rows[0]!.pid;
  };
  const frozen = await backend();
  process.kill(frozen, 'SIGSTOP');
  try {
    await expect(backend()).rejects.toThrow(DependencyUnavailableError);
  } finally {
    process.kill(frozen, 'SIGCONT');
  }
  expect(await backend()).not.toBe(frozen);
  await db.destroy();
});
