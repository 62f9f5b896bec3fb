import { sql, type Kysely } from 'kysely';
import { lockAtOnce } from './lock-at-once.ts';

/**
 * `pastes.taken_down_for` says why an operator took a paste down, and is NULL for all others. A paste that was taken down has expired, so
 * that the cleanup deletes its object. See docs/adr/0041-takedowns-expire-a-paste.md.
 *
 * `takedowns` has a row for each paste that was taken down, and keeps it when the paste is gone: it refers to no other table.
 *
 * `content_blocks` has the content hashes of which no paste is created. `content_blocks_in_force` serves the look-up of each creation.
 *
 * `operator_actions` has a row for each action on the operations page, inserted before the action runs: `outcome` stays NULL when the
 * process died meanwhile.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await lockAtOnce(db, ['pastes']);
  // NOT VALID: no row has a value yet, and a check of all rows would hold the lock for as long as it reads them.
  await sql`
    ALTER TABLE pastes ADD COLUMN taken_down_for text,
      ADD CONSTRAINT pastes_taken_down_for CHECK (${isClass('taken_down_for')}) NOT VALID,
      ADD CONSTRAINT pastes_taken_down_expires CHECK (taken_down_for IS NULL OR expires_at IS NOT NULL) NOT VALID`.execute(
    db,
  );
  await sql`
    CREATE TABLE takedowns (
      paste_id uuid PRIMARY KEY,
      short_code text COLLATE "C" NOT NULL,
      content_hash text NOT NULL,
      class text NOT NULL CHECK (${isClass('class')}),
      reason text NOT NULL CHECK (reason <> ''),
      actor text NOT NULL,
      taken_down_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`
    CREATE TABLE content_blocks (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      content_hash text NOT NULL CHECK (content_hash ~ '^sha256:[0-9a-f]{64}$'),
      class text NOT NULL CHECK (${isClass('class')}),
      reason text NOT NULL CHECK (reason <> ''),
      actor text NOT NULL,
      blocked_at timestamptz NOT NULL DEFAULT now(),
      unblocked_at timestamptz,
      unblocked_by text,
      unblock_reason text,
      CONSTRAINT content_blocks_lifted CHECK (num_nulls(unblocked_at, unblocked_by, unblock_reason) IN (0, 3))
    )`.execute(db);
  await sql`CREATE UNIQUE INDEX content_blocks_in_force ON content_blocks (content_hash)
    WHERE unblocked_at IS NULL`.execute(db);
  await sql`
    CREATE TABLE operator_actions (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      at timestamptz NOT NULL DEFAULT now(),
      actor text NOT NULL,
      action text NOT NULL,
      subject text,
      reason text NOT NULL CHECK (reason <> ''),
      outcome text
    )`.execute(db);
}

function isClass(column: string) {
  const classes = ['illegal', 'copyright', 'malware', 'phishing', 'personal_data', 'spam', 'other'];
  return sql.raw(`${column} IN (${classes.map((each) => `'${each}'`).join(', ')})`);
}
