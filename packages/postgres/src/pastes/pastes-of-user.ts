import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

/** The pastes of a user that an operator can take down: those that no cleanup has claimed. */
const standing = (userId: string) => sql`
  pastes WHERE user_id = ${userId} AND deletion_initiated_at IS NULL AND taken_down_for IS NULL`;

/** How many pastes `findStanding` finds. Reads all pastes of the user. */
export async function countStanding(db: Database, userId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM ${standing(userId)}`.execute(db);
  return rows[0]?.count ?? 0;
}

/**
 * The codes of up to `limit` pastes of a user that are not taken down, oldest first. Those that were taken down meanwhile are not found
 * again, so that the first page is always the next one.
 */
export async function findStanding(db: Database, userId: string, limit: number): Promise<readonly string[]> {
  const { rows } = await sql<{ shortCode: string }>`
    SELECT short_code AS "shortCode" FROM ${standing(userId)} ORDER BY created_at, id LIMIT ${limit}`.execute(
    db,
  );
  return rows.map(({ shortCode }) => shortCode);
}
