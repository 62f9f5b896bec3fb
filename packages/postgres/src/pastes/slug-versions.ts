import { sql } from 'kysely';
import type { Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import { prepared } from '../database/prepared.ts';
import { isOpenTo, isThere, isThereAt, readersOf } from '../schema/pastes.ts';
import type { PasteRow } from './find-paste.ts';
import { callerAs, type OwnerFunction } from '../database/objects.ts';

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
    SELECT v.number, v.named_at AS "namedAt", p.short_code, p.title, p.size_bytes, ${readers} AS visibility, p.parent
    FROM (
      SELECT number, named_at, paste_id FROM slug_versions
      WHERE lineage = (SELECT lineage FROM slug_versions WHERE paste_id = ${pasteId}::uuid)
      ORDER BY number DESC LIMIT ${MAX_SCANNED}) AS v
    JOIN pastes p ON p.id = v.paste_id
    WHERE ${isThere('p')} AND ${isOpenTo('p', sql`${userId}::uuid`)}
    ORDER BY v.number DESC LIMIT ${limit}`.execute(db);
  return rows;
}

const readers = sql.raw(readersOf('p'));

/** So many versions are looked for in each direction. */
const MAX_CHAIN = 100;

/**
 * The versions of a paste without a slug that the reader may read now, newest first: the line of pastes that
 * supersede one another. Versions that have ended leave gaps in the numbers.
 * @param userId the reader; null: anonymous
 */
export async function listChainVersions(
  db: Database,
  pasteId: string,
  { userId, limit }: { readonly userId: string | null; readonly limit: number },
): Promise<readonly SlugVersion[]> {
  const { rows } = await sql<SlugVersion>`${prepared}
    WITH RECURSIVE older AS (
      SELECT id, supersedes AS code, 0 AS step FROM pastes WHERE id = ${pasteId}::uuid
      UNION ALL
      SELECT p.id, p.supersedes, step - 1 FROM older JOIN pastes p ON p.short_code = older.code WHERE step > ${-MAX_CHAIN}
    ), newer AS (
      SELECT superseded_by AS code, 0 AS step FROM pastes WHERE id = ${pasteId}::uuid
      UNION ALL
      SELECT p.superseded_by, step + 1 FROM newer JOIN pastes p ON p.short_code = newer.code WHERE step < ${MAX_CHAIN}
    ), line AS (
      SELECT id, step FROM older
      UNION ALL
      SELECT p.id, step + 1 FROM newer JOIN pastes p ON p.short_code = newer.code
    )
    SELECT v.number, p.created_at AS "namedAt", p.short_code, p.title, p.size_bytes, ${readers} AS visibility, p.parent
    FROM (SELECT id, row_number() OVER (ORDER BY step)::integer AS number FROM line) AS v JOIN pastes p USING (id)
    WHERE ${isThere('p')} AND p.status <> 'FAILED' AND ${isOpenTo('p', sql`${userId}::uuid`)}
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

/** A move looks for the present paste among so many pastes from which the new one was made. */
const MAX_STEPS = 100;

/**
 * The statements of a function that move the slug of the paste `source`, which is locked, and record both pastes as
 * versions. The function declares `line`, a uuid.
 */
export const moveTo = (target: string, actor: string): string => `
      SELECT lineage INTO line FROM slug_versions WHERE paste_id = source.id;
      IF NOT FOUND THEN
        line := source.id;
        INSERT INTO slug_versions (lineage, number, paste_id, slug, named_at, actor)
          VALUES (line, 1, source.id, source.slug, source.created_at, ${callerAs(actor)});
      END IF;
      UPDATE pastes SET slug = NULL, version = coalesce(version, 1) WHERE id = source.id;
      UPDATE pastes SET slug = source.slug, version = coalesce(source.version, 1) + 1 WHERE id = ${target}.id;
      INSERT INTO slug_versions (lineage, number, paste_id, slug, named_at, actor)
        VALUES (line, coalesce(source.version, 1) + 1, ${target}.id, source.slug, clock_timestamp(), ${callerAs(actor)});`;

/**
 * Moves a slug from one paste of its owner to another one that was made from it, and records both as
 * versions. Returns `moved`, also when the slug is there already and its paste has not ended, or why not: see `MoveOutcome`. The api has
 * no right to change a slug: this is a function of the owner.
 *
 * The pastes are locked in the order of their codes, so that two moves can't deadlock, and only while they
 * are stored and there, so that no settlement or deletion of many rows can deadlock with a move. Each
 * statement after the locks sees what was committed before it. Who wants the slug meanwhile waits at the unique
 * index, in which the present paste has the slug until the commit.
 */
export const moveSlugFunction: OwnerFunction = {
  name: 'move_slug',
  parameters: 'of_slug text, of_user uuid, from_code text, to_code text, by_actor text',
  returns: 'text',
  body: `
    DECLARE
      source pastes%ROWTYPE;
      target pastes%ROWTYPE;
      locked integer;
      ancestor text;
      line uuid;
    BEGIN
      PERFORM FROM pastes p WHERE short_code IN (from_code, to_code) AND user_id = of_user AND status = 'PROCESSED' AND ${isThereAt('p', 'clock_timestamp()')}
        ORDER BY short_code FOR NO KEY UPDATE;
      GET DIAGNOSTICS locked = ROW_COUNT;
      SELECT * INTO target FROM pastes WHERE short_code = to_code AND user_id = of_user;
      IF target.slug = of_slug THEN RETURN CASE WHEN ${isThereAt('target', 'clock_timestamp()')} THEN 'moved' ELSE 'target_ended' END; END IF;
      SELECT * INTO source FROM pastes WHERE short_code = from_code AND user_id = of_user AND slug = of_slug;
      IF NOT FOUND THEN RETURN 'moved_before'; END IF;
      IF NOT ${isThereAt('source', 'clock_timestamp()')} THEN RETURN 'ended'; END IF;
      IF target.id IS NULL THEN RETURN 'unknown'; END IF;
      IF NOT ${isThereAt('target', 'clock_timestamp()')} THEN RETURN 'target_ended'; END IF;
      IF 'FAILED' IN (source.status, target.status) THEN RETURN 'failed'; END IF;
      IF target.burn THEN RETURN 'burn'; END IF;
      IF source.encrypted OR target.encrypted THEN RETURN 'encrypted'; END IF;
      IF source.held_at IS NOT NULL OR target.held_at IS NOT NULL THEN RETURN 'held'; END IF;
      IF num_nonnulls(target.slug, target.version) > 0 THEN RETURN 'named'; END IF;
      ancestor := target.parent;
      FOR step IN 1..${MAX_STEPS} LOOP
        EXIT WHEN ancestor IS NULL OR ancestor = from_code;
        SELECT parent INTO ancestor FROM pastes WHERE short_code = ancestor;
      END LOOP;
      IF ancestor IS DISTINCT FROM from_code THEN RETURN 'unrelated'; END IF;
      IF locked < 2 THEN RETURN 'in_progress'; END IF;
      ${moveTo('target', 'by_actor')}
      RETURN 'moved';
    END`,
};
