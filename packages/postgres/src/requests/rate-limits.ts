import { CompiledQuery, sql } from 'kysely';
import { affectedRows } from '../database/affected-rows.ts';
import type { Database } from '../database/database.ts';

/** The part of pg's client that rate-limiter-flexible calls. */
export interface RateLimitStore {
  query(statement: {
    readonly text: string;
    readonly values?: readonly unknown[];
  }): Promise<{ readonly rows: unknown[]; readonly rowCount: number }>;
}

/**
 * The table `rate_limits` for rate-limiter-flexible. Its statements use the same pool, log and typed errors
 * as all others.
 */
export function rateLimitStore(db: Database): RateLimitStore {
  return {
    query: async ({ text, values = [] }) => {
      const { rows } = await db.executeQuery(CompiledQuery.raw(text, [...values]));
      // pg returns a bigint as text.
      const counters = (rows as { readonly points?: string }[]).map((row) => ({
        ...row,
        points: Number(row.points),
      }));
      return { rows: counters, rowCount: counters.length };
    },
  };
}

/**
 * Removes up to `limit` counters whose window ended more than an hour ago. The hour is for the clocks of the
 * machines that the api runs on: a counter in use must not be removed.
 * @returns how many counters it removed
 */
export async function removeEndedRateLimits(db: Database, { limit }: { limit: number }): Promise<number> {
  const result = await sql`
    WITH ended AS MATERIALIZED (
      SELECT key FROM rate_limits WHERE expire < (extract(epoch FROM now()) - 3600)::bigint * 1000
      ORDER BY expire LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM rate_limits r USING ended WHERE r.key = ended.key`.execute(db);
  return affectedRows(result);
}
