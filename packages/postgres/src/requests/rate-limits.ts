import { sql, type RawBuilder } from 'kysely';
import { affectedRows, type Database } from '../database/database.ts';
import { within, type Portion } from '../database/one-row.ts';

/** Where the api counts the points of callers. */
export interface RateLimitStore {
  /** Adds points to a counter. Its window begins with its first points. */
  count(key: string, points: number, windowSeconds: number): Promise<Counted>;
  /** The points of the open window; 0: none is open. */
  read(key: string): Promise<number>;
}

interface Counted {
  /** Those of this window so far, the new ones included. */
  readonly points: number;
  /** Until the window ends, in ms. */
  readonly leftMs: number;
}

/** In Unix milliseconds. The clock of Postgres, because those of the machines of the api differ. */
export const nowMs = sql`(extract(epoch FROM statement_timestamp()) * 1000)::bigint`;

/**
 * The end of an INSERT into `rate_limits AS counter`: adds to the window that is open, or begins one. A
 * window that ends later than one that begins now is from a clock that has stepped back. A minute is for
 * statements that waited for the row.
 */
export const countInWindow = sql`
  ON CONFLICT (key) DO UPDATE SET (points, expire) = (
    SELECT excluded.points + CASE WHEN is_open THEN counter.points ELSE 0 END,
      CASE WHEN is_open THEN counter.expire ELSE excluded.expire END
    FROM (SELECT counter.expire > ${nowMs} AND counter.expire <= excluded.expire + 60000 AS is_open) AS window_now)`;

export function rateLimitStore(db: Database): RateLimitStore {
  return {
    count: async (key, points, windowSeconds) => {
      const { rows } = await sql<{ points: string; left_ms: string }>`
        INSERT INTO rate_limits AS counter (key, points, expire)
        VALUES (${key}, ${points}::bigint, ${nowMs} + ${windowSeconds * 1000}::bigint) ${countInWindow}
        RETURNING points, expire - ${nowMs} AS left_ms`.execute(db);
      const [counted] = rows;
      return { points: Number(counted?.points), leftMs: Number(counted?.left_ms) };
    },
    read: async (key) => {
      const { rows } = await sql<{ points: string }>`
        SELECT points FROM rate_limits WHERE key = ${key} AND expire > ${nowMs}`.execute(db);
      return Number(rows[0]?.points ?? 0);
    },
  };
}

export function searchEndedRateLimits(portion: Portion): RawBuilder<unknown> {
  return sql`
      SELECT key, key AS name FROM rate_limits
      WHERE expire < (extract(epoch FROM now()) - 3600)::bigint * 1000 AND ${within(sql`key`, portion)}
      ORDER BY expire LIMIT ${portion.limit}`;
}

/**
 * Removes up to `limit` counters whose window ended more than an hour ago.
 * @returns how many counters it removed
 */
export async function removeEndedRateLimits(db: Database, portion: Portion): Promise<number> {
  const result = await sql`
    WITH ended AS MATERIALIZED (
      ${searchEndedRateLimits(portion)} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM rate_limits r USING ended WHERE r.key = ended.key`.execute(db);
  return affectedRows(result);
}
