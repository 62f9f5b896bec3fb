import { sql, type Kysely } from 'kysely';

export interface IndexToBuild {
  readonly name: string;
  readonly unique?: boolean;
  /** What follows the name: `ON pastes (user_id)`. */
  readonly definition: string;
}

/**
 * For migrations; frozen like them. Builds indexes of tables with rows while services write to them: within the migration their statements would wait for longer than a lease.
 * CONCURRENTLY waits for the end of all older transactions, so that the second of two processes must not wait for the first in one statement.
 * A build that was cut off leaves an index that is not valid, and is repeated.
 * @param find called by one process at a time
 */
export async function buildIndexes(
  db: Kysely<unknown>,
  find: (db: Kysely<unknown>) => Promise<readonly IndexToBuild[]>,
): Promise<void> {
  await db.connection().execute(async (connection) => {
    for (;;) {
      const { rows } = await sql<{ locked: boolean }>`
        SELECT pg_try_advisory_lock(hashtext('pasteflow.indexes')) AS locked`.execute(connection);
      if (rows[0]?.locked === true) break;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    try {
      for (const index of await find(connection)) await build(connection, index);
    } finally {
      await sql`SELECT pg_advisory_unlock(hashtext('pasteflow.indexes'))`.execute(connection);
    }
  });
}

async function build(db: Kysely<unknown>, { name, unique = false, definition }: IndexToBuild): Promise<void> {
  const { rows } = await sql<{ valid: boolean }>`
    SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass(${name})`.execute(db);
  if (rows[0]?.valid === true) return;
  await sql`DROP INDEX CONCURRENTLY IF EXISTS ${sql.id(name)}`.execute(db);
  await sql`CREATE ${sql.raw(unique ? 'UNIQUE' : '')} INDEX CONCURRENTLY ${sql.id(name)} ${sql.raw(definition)}`.execute(
    db,
  );
}
