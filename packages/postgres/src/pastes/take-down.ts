import { sql } from 'kysely';
import type { PasteDeletionState, PasteUploadState, TakedownClass } from '@pasteflow/domain';
import type { Database } from '../database/database.ts';
import type { Actor } from '../database/actor.ts';

/** The pastes of a user that an operator can take down: those that no cleanup has claimed. */
const standing = (userId: string) => sql`
  pastes WHERE user_id = ${userId} AND deletion_initiated_at IS NULL AND taken_down_for IS NULL`;

/** How many pastes `findStanding` finds, at most `limit`. Without a limit it reads all pastes of the user. */
export async function countStanding(
  db: Database,
  userId: string,
  limit: number | null = null,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM (SELECT FROM ${standing(userId)} LIMIT ${limit}) AS counted`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

/**
 * The codes of up to `limit` pastes of a user that are not taken down, oldest first. Those that were taken
 * down meanwhile are not found again, so that the first page is always the next one.
 */
export async function findStanding(db: Database, userId: string, limit: number): Promise<readonly string[]> {
  const { rows } = await sql<{ shortCode: string }>`
    SELECT short_code AS "shortCode" FROM ${standing(userId)} ORDER BY created_at, id LIMIT ${limit}`.execute(
    db,
  );
  return rows.map(({ shortCode }) => shortCode);
}

/** Who takes a paste down or blocks its content, and why. */
export interface TakedownBy {
  readonly actor: Actor;
  /** The class that readers see. */
  readonly class: TakedownClass;
  /** In the operator's words, for operators. Not empty. */
  readonly reason: string;
}

interface TakenDown {
  readonly shortCode: string;
  readonly contentHash: string;
  /** null: an anonymous paste. */
  readonly userId: string | null;
  readonly status: PasteUploadState;
  readonly deletionStatus: PasteDeletionState;
}

interface TakedownResult {
  readonly takenDown: readonly TakenDown[];
  /** The codes of pastes that had been taken down before. */
  readonly before: readonly string[];
  /** The codes that no paste has. */
  readonly unknown: readonly string[];
}

/** A paste can be replaced by retries between two tries, each of which needs a put that failed six times. */
const MAX_TRIES = 5;

/**
 * Takes pastes down, in whatever state they are (ADR 41): they are deleted, and say why. From the commit on
 * nobody reads them, no retry starts them again, and the cleanup deletes their objects once their uploads
 * have ended, as after a deletion by the user. Their content, cleared or not, can be reported again.
 *
 * A retry of a FAILED paste that commits first replaces the row, and the statement, which has waited for it,
 * finds nothing. It is then repeated, and finds the paste that has the code now.
 */
export async function takeDown(
  db: Database,
  shortCodes: readonly string[],
  by: TakedownBy,
): Promise<TakedownResult> {
  const takenDown: TakenDown[] = [];
  const before: string[] = [];
  let left: readonly string[] = [...new Set(shortCodes)];
  for (let tries = 0; tries < MAX_TRIES && left.length > 0; tries += 1) {
    takenDown.push(...(await takeDownOnce(db, left, by)));
    const done = new Set(takenDown.map(({ shortCode }) => shortCode));
    const others = await findTakedowns(
      db,
      left.filter((code) => !done.has(code)),
    );
    before.push(...others.filter(({ isDown }) => isDown).map(({ shortCode }) => shortCode));
    left = others.filter(({ isDown }) => !isDown).map(({ shortCode }) => shortCode);
  }
  // A statement of its own, which sees what was cleared while the others waited for locks.
  await sql`
    DELETE FROM cleared_contents
    WHERE content_hash IN (SELECT content_hash FROM pastes WHERE short_code = ANY (${shortCodes}))`.execute(
    db,
  );
  if (left.length > 0)
    throw new Error(
      `These pastes changed while they were taken down; repeat the command: ${left.join(', ')}`,
    );
  const known = new Set([...takenDown.map(({ shortCode }) => shortCode), ...before]);
  return { takenDown, before, unknown: [...new Set(shortCodes)].filter((code) => !known.has(code)) };
}

async function takeDownOnce(
  db: Database,
  shortCodes: readonly string[],
  { actor, class: why, reason }: TakedownBy,
): Promise<readonly TakenDown[]> {
  const { rows } = await sql<TakenDown>`
    WITH target AS MATERIALIZED (
      SELECT id FROM pastes WHERE short_code = ANY (${shortCodes}) AND taken_down_for IS NULL ORDER BY id DESC FOR UPDATE
    ), marked AS (
      UPDATE pastes p SET taken_down_for = ${why}, deletion_requested_at = coalesce(p.deletion_requested_at, now())
      FROM target WHERE p.id = target.id
      RETURNING p.id, p.short_code, p.content_hash, p.user_id, p.status, p.deletion_status
    ), recorded AS (
      INSERT INTO takedowns (paste_id, short_code, content_hash, class, reason, actor)
      SELECT id, short_code, content_hash, ${why}, ${reason}, ${actor} FROM marked
    )
    SELECT short_code AS "shortCode", content_hash AS "contentHash", user_id AS "userId", status,
      deletion_status AS "deletionStatus"
    FROM marked ORDER BY id`.execute(db);
  return rows;
}

async function findTakedowns(
  db: Database,
  shortCodes: readonly string[],
): Promise<readonly { readonly shortCode: string; readonly isDown: boolean }[]> {
  if (shortCodes.length === 0) return [];
  const { rows } = await sql<{ shortCode: string; isDown: boolean }>`
    SELECT short_code AS "shortCode", taken_down_for IS NOT NULL AS "isDown" FROM pastes
    WHERE short_code = ANY (${shortCodes})`.execute(db);
  return rows;
}
