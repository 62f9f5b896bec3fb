import { sql, type Kysely } from 'kysely';

/** The pastes that a slug has named, one after the other. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- version: the number among the pastes that the slug has named; NULL: the slug was never moved.
    ALTER TABLE pastes ADD COLUMN version integer CHECK (version > 0);

    -- A row for each paste of a slug that was moved, and so the record of the moves: services only read it.
    -- lineage: the id of the first of them. A slug that somebody else takes later has another one.
    CREATE TABLE slug_versions (
      lineage uuid NOT NULL,
      number integer NOT NULL,
      paste_id uuid NOT NULL UNIQUE REFERENCES pastes (id) ON DELETE CASCADE,
      slug text COLLATE "C" NOT NULL,
      named_at timestamptz NOT NULL,
      actor text NOT NULL,
      PRIMARY KEY (lineage, number)
    );
  `.execute(db);
}
