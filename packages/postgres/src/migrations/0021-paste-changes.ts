import { sql, type Kysely } from 'kysely';

/** What owners have changed of their pastes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- A row for each field that was changed. from, to: only of the readers and the expiry (NULL: never), so that no copy
    -- is left of what tells of the content. changed_by: the owner, or who had the delete token.
    CREATE TABLE paste_changes (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      paste_id uuid NOT NULL REFERENCES pastes (id) ON DELETE CASCADE,
      field text COLLATE "C" NOT NULL CHECK (field IN ('title', 'syntax', 'visibility', 'expires_at')),
      "from" text,
      "to" text,
      changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      changed_by text NOT NULL CHECK (changed_by IN ('owner', 'delete_token')),
      actor text NOT NULL CHECK (actor <> ''),
      CONSTRAINT paste_changes_copy_no_content
        CHECK (field IN ('visibility', 'expires_at') OR num_nonnulls("from", "to") = 0)
    );
    CREATE INDEX paste_changes_paste ON paste_changes (paste_id, id);
  `.execute(db);
}
