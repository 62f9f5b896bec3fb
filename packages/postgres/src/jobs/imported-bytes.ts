import { sql } from 'kysely';
import { affectedRows } from '../database/affected-rows.ts';
import type { Database } from '../database/database.ts';

/**
 * Whether the imports of a user have created pastes of `maxBytes` or more within the last hour. Running imports are not stopped: a user
 * can exceed the limit by what the open imports still create.
 * @returns the seconds until the user is below the limit again; null: the user is below it now
 */
export async function secondsUntilImportAllowed(
  db: Database,
  userId: string,
  maxBytes: number,
): Promise<number | null> {
  const { rows } = await sql<{ seconds: number | null }>`
    SELECT extract(epoch FROM max(created_at) + interval '1 hour' - now())::float8 AS seconds
    FROM (
      SELECT created_at, sum(bytes) OVER (ORDER BY created_at DESC) AS since
      FROM imported_bytes WHERE user_id = ${userId} AND created_at > now() - interval '1 hour'
    ) AS batch
    WHERE since >= ${maxBytes}::bigint`.execute(db);
  return rows[0]?.seconds ?? null;
}

/** Removes up to `limit` rows older than an hour. @returns how many rows it removed */
export async function removeOldImportedBytes(db: Database, { limit }: { limit: number }): Promise<number> {
  const result = await sql`
    WITH old AS MATERIALIZED (
      SELECT ctid AS place FROM imported_bytes WHERE created_at < now() - interval '1 hour'
      ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM imported_bytes i USING old WHERE i.ctid = old.place`.execute(db);
  return affectedRows(result);
}
