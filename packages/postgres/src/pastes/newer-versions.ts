import type { Visibility } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import type { EnforcedTrigger } from '../database/objects.ts';
import { anyOf } from '../database/planner.ts';
import { prepared } from '../database/prepared.ts';
import { isOpenTo, isThere, isThereAt, readersOf } from '../schema/pastes.ts';
import { moveTo } from './slug-versions.ts';

/** Whether a paste has the place of the newer version of another: the predicate of the unique index. */
export const supersedesLive = (paste: string, code: string): string =>
  `${paste}.supersedes = ${code} AND ${paste}.failed_at IS NULL AND ${paste}.deletion_requested_at IS NULL AND ${paste}.deleted_at IS NULL`;

/** A paste that has the place of the newer version of another one, stored or not. */
export interface Superseder {
  readonly shortCode: string;
  readonly contentHash: string;
  readonly userId: string | null;
  readonly visibility: Visibility;
  /** It has expired, and has the place until the cleanup has deleted it. */
  readonly isGone: boolean;
}

/** The paste because of which no other one can supersede the paste with this code; null: there is none. */
export async function findSuperseder(db: Database, code: string): Promise<Superseder | null> {
  const { rows } = await sql<Superseder>`${prepared}
    SELECT short_code AS "shortCode", content_hash AS "contentHash", user_id AS "userId", ${sql.raw(readersOf('p'))} AS visibility, NOT ${isThere('p')} AS "isGone"
    FROM (SELECT ${code}::text AS code) AS asked JOIN pastes p ON ${sql.raw(supersedesLive('p', 'asked.code'))}`.execute(
    db,
  );
  return rows[0] ?? null;
}

/** From a paste so many versions are followed. The newest of them has newer ones of its own. */
const MAX_STEPS = 100;

/**
 * The newest stored versions of pastes that a reader may read now, by the short codes of the older ones. Versions in
 * between that have ended, or that the reader can't read, are passed over.
 * @param userId null: an anonymous reader
 */
export async function findNewestVersions(
  db: Database,
  older: readonly string[],
  userId: string | null,
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ older: string; newest: string }>`${prepared}
    WITH RECURSIVE line AS (
      SELECT short_code AS older, superseded_by AS code, 1 AS step FROM pastes WHERE short_code = ${anyOf(older, 'text')}
      UNION ALL
      SELECT older, p.superseded_by, step + 1 FROM line JOIN pastes p ON p.short_code = line.code
      WHERE line.code IS NOT NULL AND step < ${MAX_STEPS}
    )
    SELECT DISTINCT ON (older) older, p.short_code AS newest FROM line JOIN pastes p ON p.short_code = line.code
    WHERE ${isThere('p')} AND ${isOpenTo('p', sql`${userId}::uuid`)}
    ORDER BY older, step DESC`.execute(db);
  return new Map(rows.map((row) => [row.older, row.newest]));
}

/**
 * Names the newer version in the older paste when it is stored, and moves the slug to it, in the transaction of its
 * settlement: a slug names only stored content (ADR 54). No service may write these columns, and a paste supersedes
 * only those of its owner, and anonymous ones, which have no slug.
 *
 * A newer version that has ended before it was stored changes nothing: another one may have its place. An older one
 * that has ended keeps its slug, and so does one when either is held, as `move_slug` says. The row of the newer one is
 * locked by the settlement: whoever locks several pastes locks the newest first.
 */
export const nameNewerVersionTrigger: EnforcedTrigger = {
  table: 'pastes',
  name: 'name_newer_version',
  function: 'name_newer_version',
  runsAsOwner: true,
  settings: '',
  body: `
    DECLARE
      source pastes%ROWTYPE;
      line uuid;
    BEGIN
      IF NOT ${isThereAt('NEW', 'clock_timestamp()')} THEN RETURN NULL; END IF;
      SELECT * INTO source FROM pastes p
        WHERE short_code = NEW.supersedes AND (user_id IS NULL OR user_id = NEW.user_id) AND ${isThereAt('p', 'clock_timestamp()')}
        FOR NO KEY UPDATE;
      IF NOT FOUND THEN RETURN NULL; END IF;
      UPDATE pastes SET superseded_by = NEW.short_code WHERE id = source.id;
      IF source.slug IS NULL OR num_nonnulls(source.held_at, NEW.held_at, NEW.slug, NEW.version) > 0 THEN RETURN NULL; END IF;
      ${moveTo('NEW', "current_setting('pasteflow.actor', true)")}
      RETURN NULL;
    END`,
  definition: `AFTER UPDATE OF status ON pastes FOR EACH ROW WHEN (NEW.supersedes IS NOT NULL AND NEW.status = 'PROCESSED' AND OLD.status <> NEW.status)`,
};
