import { sql } from 'kysely';
import type { Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import { prepared } from '../database/prepared.ts';
import { MAX_STEPS } from '../enforcement/move-slug.ts';
import { isThere } from '../schema/pastes.ts';
import type { PasteRow } from './find-paste.ts';

export interface SlugMove {
  readonly slug: string;
  /** Who must own the slug and both pastes. */
  readonly userId: string;
  /** The short code of the paste that the slug should name now. */
  readonly from: string;
  /** The short code of the paste that the slug names afterwards. */
  readonly to: string;
}

/**
 * `moved`: the slug names the paste, since now or before. `moved_before`: it does not name `from`, or the user
 * does not own it. `ended`: `from` is gone. All others say what is wrong with the new paste, or with either:
 * `in_progress` ends by itself.
 */
export type MoveOutcome =
  | 'moved'
  | 'moved_before'
  | 'ended'
  | 'in_progress'
  | 'unknown'
  | 'target_ended'
  | 'failed'
  | 'burn'
  | 'encrypted'
  | 'held'
  | 'named'
  | 'unrelated';

/** Moves a slug to a paste that was made from the one that it names: a compare-and-set. */
export async function moveSlug(
  db: Database,
  { slug, userId, from, to }: SlugMove,
  actor: Actor,
): Promise<MoveOutcome> {
  const { rows } = await sql<{ outcome: MoveOutcome }>`${prepared}
    SELECT move_slug(${slug}, ${userId}::uuid, ${from}, ${to}, ${actor}) AS outcome`.execute(db);
  return rows[0]?.outcome ?? 'moved_before';
}

export type SlugVersion = Pick<PasteRow, 'short_code' | 'title' | 'size_bytes' | 'visibility' | 'parent'> & {
  readonly number: number;
  readonly namedAt: Date;
};

/** Versions that have ended are passed over, and there may be many: no more than these are looked at. */
const MAX_SCANNED = 1000;

/**
 * The newest versions of a slug that the reader may read now, newest first, found by any of them.
 * @param userId the reader; null: anonymous
 */
export async function listSlugVersions(
  db: Database,
  pasteId: string,
  { userId, limit }: { readonly userId: string | null; readonly limit: number },
): Promise<readonly SlugVersion[]> {
  const { rows } = await sql<SlugVersion>`${prepared}
    SELECT v.number, v.named_at AS "namedAt", p.short_code, p.title, p.size_bytes, p.visibility, p.parent
    FROM (
      SELECT number, named_at, paste_id FROM slug_versions
      WHERE lineage = (SELECT lineage FROM slug_versions WHERE paste_id = ${pasteId}::uuid)
      ORDER BY number DESC LIMIT ${MAX_SCANNED}) AS v
    JOIN pastes p ON p.id = v.paste_id
    WHERE ${isThere('p')} AND (p.visibility <> 'private' AND p.held_at IS NULL OR coalesce(p.user_id = ${userId}::uuid, false))
    ORDER BY v.number DESC LIMIT ${limit}`.execute(db);
  return rows;
}

/**
 * The slug that its owner can move to a paste: that of the nearest paste from which the paste was made, unless
 * this one keeps it, as `move_slug` says.
 * @param parent the short code of the parent of the paste
 */
export async function findMovableSlug(
  db: Database,
  parent: string,
  userId: string,
): Promise<{ readonly slug: string; readonly from: string } | null> {
  const { rows } = await sql<{ slug: string; from: string }>`${prepared}
    WITH RECURSIVE line AS (
      SELECT short_code, parent, slug, id, 1 AS step FROM pastes WHERE short_code = ${parent}
      UNION ALL
      SELECT p.short_code, p.parent, p.slug, p.id, step + 1 FROM line JOIN pastes p ON p.short_code = line.parent
      WHERE line.slug IS NULL AND step < ${MAX_STEPS}
    )
    SELECT p.slug, p.short_code AS "from" FROM line JOIN pastes p USING (id)
    WHERE p.slug IS NOT NULL AND p.user_id = ${userId}::uuid AND p.status = 'PROCESSED' AND ${isThere('p')}
      AND NOT p.encrypted AND p.held_at IS NULL`.execute(db);
  return rows[0] ?? null;
}
