import { sql, type Kysely } from 'kysely';

/** What each user has stored, and the installation as a whole. Triggers of the enforcement write it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- Whether stored_usage counts the paste while it is not DELETED. The service that creates the paste decides, because
    -- without quotas nothing is to be counted. The sweep rescue-stranded counts the others once there are quotas.
    ALTER TABLE pastes ADD COLUMN counted boolean NOT NULL DEFAULT false;

    -- owner: a user, or the nil UUID for all pastes. What an owner has stored is the sum of its parts. Creations add to
    -- part 0 of their user, and to one of 16 parts of all pastes, so that they don't wait for each other. Deletions
    -- subtract from part -1, and so never wait for a creation.
    CREATE TABLE stored_usage (
      owner uuid NOT NULL,
      part smallint NOT NULL,
      pastes bigint NOT NULL DEFAULT 0,
      bytes bigint NOT NULL DEFAULT 0,
      PRIMARY KEY (owner, part)
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000);
  `.execute(db);
}
