import { expect, it } from '@jest/globals';
import { DependencyUnavailableError } from '@pasteflow/domain';
import { sql } from 'kysely';
import {
  claimExecutions,
  createDatabase,
  findPaste,
  findPastes,
  settleExecutions,
  uploadSubject,
  type Database,
} from '../../src/index.ts';
import { newPaste, useOwnServer } from '../support/database.ts';

const current = useOwnServer({ fresh: 'database' });

/** One connection, so that every statement uses what the ones before have prepared. */
async function withOneConnection(
  use: (db: Database) => Promise<void>,
  { preparedStatements = true, url = current.url } = {},
): Promise<void> {
  const db = createDatabase({
    url,
    applicationName: 'test',
    maxConnections: 1,
    preparedStatements,
    onConnectionError: () => {},
  });
  try {
    await use(db);
  } finally {
    await db.destroy();
  }
}

interface Prepared {
  readonly statement: string;
  readonly generic: number;
}

async function preparedIn(db: Database): Promise<readonly Prepared[]> {
  const { rows } = await sql<Prepared>`
    SELECT statement, generic_plans::integer AS generic FROM pg_prepared_statements`.execute(db);
  return rows;
}

const backend = async (db: Database): Promise<number> => {
  const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(db);
  return rows[0]?.pid ?? NaN;
};

it('a connection prepares a hot statement once, and keeps one plan for all parameters', async () => {
  await withOneConnection(async (db) => {
    for (let n = 0; n < 8; n++) {
      const { shortCode, executionId } = await newPaste(db);
      expect(await findPaste(db, shortCode)).toMatchObject({ short_code: shortCode });
      expect((await findPastes(db, [shortCode])).size).toBe(1);
      const by = { actor: 'w', leaseSeconds: 6, dispatched: true };
      const claims = await claimExecutions(db, uploadSubject, { keys: [shortCode], ...by });
      expect(claims.get(shortCode)?.kind).toBe('claimed');
      const stored = { kind: 'succeeded', s3Url: 's3://b/k' } as const;
      const settlement = { executionId, outcome: stored, nextStep: { kind: 'done' } } as const;
      expect((await settleExecutions(db, uploadSubject, [settlement], by)).size).toBe(1);
    }
    const statements = await preparedIn(db);
    expect(statements).toHaveLength(5);
    expect(statements.filter(({ generic }) => generic === 0)).toEqual([]);
  });
});

it('a connection that keeps plans avoids plans that read whole tables, and keeps the options of its URL', async () => {
  const url = new URL(current.url);
  url.searchParams.set('options', '-c work_mem=5MB');
  await withOneConnection(
    async (db) => {
      const { rows } = await sql`
        SELECT current_setting('enable_seqscan') AS seqscan, current_setting('work_mem') AS memory,
          current_setting('log_parameter_max_length_on_error') AS logged`.execute(db);
      expect(rows).toEqual([{ seqscan: 'off', memory: '5MB', logged: '0' }]);
    },
    { url: url.href },
  );
});

it('nothing is prepared when prepared statements are off', async () => {
  await withOneConnection(
    async (db) => {
      const { shortCode } = await newPaste(db);
      await findPaste(db, shortCode);
      expect(await preparedIn(db)).toEqual([]);
    },
    { preparedStatements: false },
  );
});

it('statements go on after a restart of Postgres, which forgets what was prepared', async () => {
  await withOneConnection(async (db) => {
    const { shortCode } = await newPaste(db);
    await findPaste(db, shortCode);
    await current.stack.restartPostgres();
    // The connection is found dead by at most one statement.
    await findPaste(db, shortCode).catch(() => undefined);
    expect(await findPaste(db, shortCode)).toMatchObject({ short_code: shortCode });
  });
});

it('a migration that adds a column fails no statement, and the connection with the old plan is not reused', async () => {
  await withOneConnection(async (db) => {
    const { shortCode } = await newPaste(db);
    await findPaste(db, shortCode);
    const before = await backend(db);
    await sql`ALTER TABLE pastes ADD COLUMN added integer DEFAULT 7`.execute(current.db);
    expect(await findPaste(db, shortCode)).toMatchObject({ short_code: shortCode, added: 7 });
    expect(await backend(db)).not.toBe(before);
    expect(await findPaste(db, shortCode)).toMatchObject({ added: 7 });
  });
});

it('a transaction in which a plan has become unusable fails as if Postgres were unavailable, and succeeds when it is repeated', async () => {
  await withOneConnection(async (db) => {
    const { shortCode } = await newPaste(db);
    await findPaste(db, shortCode);
    await sql`ALTER TABLE pastes ADD COLUMN added integer`.execute(current.db);
    const read = () => db.transaction().execute((tx) => findPaste(tx, shortCode));
    await expect(read()).rejects.toBeInstanceOf(DependencyUnavailableError);
    expect(await read()).toMatchObject({ short_code: shortCode });
  });
});

it('a statement is executed without its preparation when the connection has lost it, as behind a pooler', async () => {
  await withOneConnection(async (db) => {
    const { shortCode } = await newPaste(db);
    await findPaste(db, shortCode);
    await sql`DEALLOCATE ALL`.execute(db);
    expect(await findPaste(db, shortCode)).toMatchObject({ short_code: shortCode });
  });
});
