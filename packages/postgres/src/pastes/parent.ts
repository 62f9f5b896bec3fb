import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database.ts';
import { isThere } from '../schema/pastes.ts';

/**
 * Whether a user could read the paste with this short code now: the condition under which it becomes the parent of a new paste. A paste
 * that is deleted when it is read can't be a parent, because no reader can read it twice.
 *
 * True without a parent, at no cost: Postgres looks up nothing then. A scalar subquery, because for EXISTS the planner may read the whole
 * table once instead of one row for each paste of a group. It locks nothing: a creation never waits for what happens to its parent.
 * @param parent a text; NULL: none
 * @param userId a uuid; NULL: an anonymous creator
 */
export function parentIsReadable(
  parent: RawBuilder<unknown>,
  userId: RawBuilder<unknown>,
): RawBuilder<boolean> {
  return sql<boolean>`CASE WHEN ${parent} IS NULL THEN true ELSE coalesce((
    SELECT origin.status <> 'FAILED' AND ${isThere('origin')} AND NOT origin.burn
      AND (origin.visibility <> 'private' OR coalesce(origin.user_id = ${userId}, false))
    FROM pastes origin WHERE origin.short_code = ${parent}), false) END`;
}

/** The same, for a creation that inserted nothing: whether its parent was the reason. */
export async function hasReadableParent(
  db: Database,
  { parent, userId }: { readonly parent: string; readonly userId: string | null },
): Promise<boolean> {
  const { rows } = await sql<{ readable: boolean }>`
    SELECT ${parentIsReadable(sql`${parent}::text`, sql`${userId}::uuid`)} AS readable`.execute(db);
  return rows[0]?.readable === true;
}
