import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

/** Why a paste with a slug was not inserted. */
export type SlugRefusal = 'slug_taken' | 'slug_limit_reached';

/**
 * Why `createPaste` has not inserted a paste with this slug; null: its short code was taken, or the reason is gone, so that another try can
 * succeed. A paste has its slug in any state, also when it was deleted, until its row is removed.
 */
export async function findSlugRefusal(
  db: Database,
  { slug, userId }: { readonly slug: string; readonly userId: string },
  maxSlugs: number | null,
): Promise<SlugRefusal | null> {
  const { rows } = await sql<{ isTaken: boolean; isLimitReached: boolean }>`
    SELECT EXISTS (SELECT FROM pastes WHERE slug = ${slug}) AS "isTaken",
      (SELECT count(*) FROM (
        SELECT FROM pastes WHERE user_id = ${userId} AND slug IS NOT NULL LIMIT coalesce(${maxSlugs}::integer, 0)) AS counted) >= ${maxSlugs}::integer AS "isLimitReached"`.execute(
    db,
  );
  const [row] = rows;
  if (row?.isTaken === true) return 'slug_taken';
  return row?.isLimitReached === true ? 'slug_limit_reached' : null;
}
