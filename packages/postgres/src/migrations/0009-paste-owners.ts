import { sql, type Kysely } from 'kysely';

/**
 * The indexes have the orders in which an owner's lists are read. None on `pastes` contains `status` or a
 * column that a successful upload sets, so that the upload stays a HOT update. FAILED has an index of its
 * own. IN_PROGRESS is found by the payload, which has owner and time for this purpose and is deleted when the
 * upload settles. Pastes that are claimed for deletion are in no list.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE pastes
      ADD COLUMN visibility varchar(20) NOT NULL DEFAULT 'unlisted' CHECK (visibility IN ('unlisted', 'private')),
      ADD CONSTRAINT pastes_private_has_owner CHECK (visibility <> 'private' OR user_id IS NOT NULL)`.execute(
    db,
  );
  await sql`CREATE INDEX pastes_owner ON pastes (user_id, created_at, id)
    WHERE user_id IS NOT NULL AND deletion_initiated_at IS NULL`.execute(db);
  await sql`CREATE INDEX pastes_owner_failed ON pastes (user_id, created_at, id)
    WHERE user_id IS NOT NULL AND deletion_initiated_at IS NULL AND failed_at IS NOT NULL`.execute(db);
  await sql`
    ALTER TABLE paste_payloads ADD COLUMN user_id uuid, ADD COLUMN created_at timestamptz NOT NULL DEFAULT now()`.execute(
    db,
  );
  await sql`CREATE INDEX paste_payloads_owner ON paste_payloads (user_id, created_at, paste_id)
    WHERE user_id IS NOT NULL`.execute(db);
}
