import { sql, type Kysely } from 'kysely';

/** A content is cleared of reports under the title and the slug that an operator saw. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- shown_as: SHA-256 of the title and the slug; empty: the paste has neither, or was cleared before this column.
    ALTER TABLE cleared_contents ADD COLUMN shown_as text COLLATE "C" NOT NULL DEFAULT '';
    ALTER TABLE cleared_contents DROP CONSTRAINT cleared_contents_pkey, ADD PRIMARY KEY (content_hash, shown_as);
  `.execute(db);
}
