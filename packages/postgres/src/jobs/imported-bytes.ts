import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database.ts';
import { countInWindow, nowMs } from '../requests/rate-limits.ts';

/**
 * The counter of the bytes of a user's pastes. The api counts those of new pastes, and an import adds its
 * own.
 */
const BYTES_OF_USER = 'bytes:user:';

/**
 * An INSERT that adds the bytes of an import to the counter of its user.
 * @param made the name of a CTE with `user_id` and `size_bytes`
 */
export function countImportedBytes(made: string): RawBuilder<unknown> {
  return sql`
    INSERT INTO rate_limits AS counter (key, points, expire)
    SELECT ${sql.lit(BYTES_OF_USER)} || user_id, sum(size_bytes), ${nowMs} + 3600000 FROM ${sql.table(made)} GROUP BY user_id
    ${countInWindow}`;
}

/**
 * The seconds until the user may create more bytes; null: the user has created fewer than `maxBytes` in this
 * hour.
 */
export async function secondsUntilBytesAllowed(
  db: Database,
  userId: string,
  maxBytes: number,
): Promise<number | null> {
  const { rows } = await sql<{ seconds: number }>`
    SELECT (expire - ${nowMs}) / 1000.0::float8 AS seconds FROM rate_limits
    WHERE key = ${BYTES_OF_USER + userId} AND points >= ${maxBytes}::bigint
      AND expire > ${nowMs} AND expire <= ${nowMs} + 3660000`.execute(db);
  return rows[0]?.seconds ?? null;
}
