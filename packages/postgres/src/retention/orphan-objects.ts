import { sql } from 'kysely';
import { affectedRows } from '../database/affected-rows.ts';
import type { Database } from '../database/database.ts';

export interface Orphan {
  readonly key: string;
  /** As S3 gives it. */
  readonly lastModified: Date;
}

/**
 * Records objects without a live row, as seen by the run that started at `seenAt`. The grace period of an
 * object that is known already continues, unless the object was written again since.
 */
export async function recordOrphans(db: Database, orphans: readonly Orphan[], seenAt: Date): Promise<void> {
  if (orphans.length === 0) return;
  await sql`
    INSERT INTO orphan_objects AS known (key, last_modified, first_seen_at, last_seen_at)
    SELECT key, last_modified, ${seenAt}, ${seenAt}
    FROM unnest(${orphans.map(({ key }) => key)}::text[], ${orphans.map((each) => each.lastModified)}::timestamptz[])
      AS found (key, last_modified)
    ON CONFLICT (key) DO UPDATE SET last_modified = excluded.last_modified,
      last_seen_at = greatest(known.last_seen_at, excluded.last_seen_at),
      first_seen_at = CASE WHEN known.last_modified = excluded.last_modified THEN least(known.first_seen_at, excluded.first_seen_at)
        ELSE excluded.first_seen_at END`.execute(db);
}

/** Which orphans a run may delete. */
export interface DueOrphans {
  /** The start of the run: only what the run itself has seen, or a later one. */
  readonly seenAt: Date;
  readonly graceSeconds: number;
}

/** How many orphans were seen by this run and were first seen at least the grace period before it. */
export async function countDueOrphans(db: Database, due: DueOrphans): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM orphan_objects WHERE ${isDue(due)}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Keys of due orphans after `after`, in byte order, at most `limit`. */
export async function findDueOrphans(
  db: Database,
  { after, limit, ...due }: DueOrphans & { readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const { rows } = await sql<{ key: string }>`
    SELECT key FROM orphan_objects WHERE ${isDue(due)} AND key > ${after} ORDER BY key LIMIT ${limit}`.execute(
    db,
  );
  return rows.map(({ key }) => key);
}

/** Forgets orphans whose objects were deleted. */
export async function forgetOrphans(db: Database, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await sql`DELETE FROM orphan_objects WHERE key = ANY (${keys}::text[])`.execute(db);
}

/**
 * Forgets orphans that the complete run that started at `seenAt` did not see: their objects are gone, or are
 * live again.
 * @returns how many
 */
export async function forgetUnseenOrphans(db: Database, seenAt: Date): Promise<number> {
  return affectedRows(
    await sql`DELETE FROM orphan_objects WHERE last_seen_at NOT BETWEEN ${seenAt} AND now()`.execute(db),
  );
}

function isDue({ seenAt, graceSeconds }: DueOrphans) {
  return sql<boolean>`last_seen_at BETWEEN ${seenAt} AND now()
    AND first_seen_at <= ${seenAt}::timestamptz - make_interval(secs => ${graceSeconds})`;
}
