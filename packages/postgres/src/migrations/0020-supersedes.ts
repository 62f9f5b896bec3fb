import { sql, type Kysely } from 'kysely';

/**
 * Newer versions of pastes. The CHECK and the index, which begins empty, each read the table once, during which
 * requests wait.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- supersedes: the short code of the paste of which this one is the newer version. No foreign key, as for the parent.
    -- superseded_by: the paste that superseded this one last, set when that was stored. It may have ended since.
    ALTER TABLE pastes ADD COLUMN supersedes text COLLATE "C", ADD COLUMN superseded_by text COLLATE "C",
      ADD CONSTRAINT pastes_supersedes CHECK (supersedes IS NULL OR coalesce(supersedes = parent, false) AND NOT burn AND NOT encrypted);

    -- Of two editors one wins. No column of the predicate ever takes back its value, so that no row returns to the
    -- index, and an upload that is stored sets none of them.
    CREATE UNIQUE INDEX pastes_supersedes_once ON pastes (supersedes)
      WHERE supersedes IS NOT NULL AND failed_at IS NULL AND deletion_requested_at IS NULL AND deleted_at IS NULL;
  `.execute(db);
}
