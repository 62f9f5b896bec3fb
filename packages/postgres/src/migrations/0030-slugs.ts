import { sql, type Kysely } from 'kysely';
import { lockAtOnce } from './lock-at-once.ts';

/**
 * `pastes.slug` is a name that the owner of a paste has chosen: the paste is also reached at `/~slug`. The unique index lets one paste have
 * a slug until the row of the paste is removed (docs/adr/0053-slugs.md).
 *
 * `slugs_left` returns how many slugs a user may still take. The advisory lock lets the creations of a user wait for each other's commits, so
 * that the limit is exact; each query of a volatile function sees what was committed before it began. `pastes_owner_slugs` serves it.
 *
 * The column rewrites nothing, and NOT VALID reads no row. Both indexes have only the pastes with a slug, so that they are empty at first
 * and a paste without a slug costs nothing more; still, Postgres reads the table once for each. Neither contains a column that an upload or
 * a deletion changes.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await lockAtOnce(db, ['pastes']);
  await sql`
    ALTER TABLE pastes ADD COLUMN slug text COLLATE "C",
      ADD CONSTRAINT pastes_slug_pattern CHECK (slug ~ '^[a-z0-9][a-z0-9-]{1,62}[a-z0-9]$') NOT VALID,
      ADD CONSTRAINT pastes_slug_has_owner CHECK (slug IS NULL OR user_id IS NOT NULL) NOT VALID`.execute(db);
  await sql`CREATE UNIQUE INDEX pastes_slug ON pastes (slug) WHERE slug IS NOT NULL`.execute(db);
  await sql`CREATE INDEX pastes_owner_slugs ON pastes (user_id) WHERE slug IS NOT NULL`.execute(db);
  await sql`
    CREATE FUNCTION slugs_left(of_user uuid, max_slugs integer) RETURNS integer LANGUAGE plpgsql VOLATILE
      SET enable_seqscan = off SET enable_bitmapscan = off AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtext('pasteflow.slugs'), hashtext(of_user::text));
      RETURN max_slugs - (SELECT count(*) FROM (
        SELECT FROM pastes WHERE user_id = of_user AND slug IS NOT NULL LIMIT max_slugs) AS counted);
    END $$`.execute(db);
}
