import { sql, type Kysely } from 'kysely';

/** What readers report, and what the operators decide. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- held_at: so many have reported the paste that only its owner reads it until an operator has decided.
    ALTER TABLE pastes ADD COLUMN held_at timestamptz;

    -- The key of the hashes by which reporters are counted. Only a function of the owner reads it. A dump has it, and
    -- then shows an address to somebody who tries all of them.
    ALTER TABLE installation ADD COLUMN reporter_key bytea NOT NULL
      DEFAULT uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());

    -- reporter: the keyed hash of the reporter's address, while the report is open.
    CREATE TABLE paste_reports (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      paste_id uuid NOT NULL REFERENCES pastes (id) ON DELETE CASCADE,
      content_hash text NOT NULL,
      status varchar(20) NOT NULL DEFAULT 'open',
      class text NOT NULL CHECK (class IN ('illegal', 'copyright', 'malware', 'phishing', 'personal_data', 'spam', 'other')),
      text text CHECK (text <> '' AND length(text) <= 1000),
      contact text CHECK (contact <> '' AND length(contact) <= 200),
      reporter bytea CHECK (octet_length(reporter) = 32),
      created_at timestamptz NOT NULL DEFAULT now(),
      judged_at timestamptz,
      CONSTRAINT paste_reports_judged_has_time CHECK ((status = 'open') = (judged_at IS NULL)),
      CONSTRAINT paste_reports_open_has_reporter CHECK ((status = 'open') = (reporter IS NOT NULL))
    );
    -- One report of each reporter. Judged ones have no reporter, and NULLs are distinct.
    CREATE UNIQUE INDEX paste_reports_reporters ON paste_reports (paste_id, reporter);
    CREATE INDEX paste_reports_open ON paste_reports (created_at) WHERE judged_at IS NULL;
    CREATE INDEX paste_reports_open_content ON paste_reports (content_hash) WHERE judged_at IS NULL;
    CREATE INDEX paste_reports_judged ON paste_reports (judged_at) WHERE judged_at IS NOT NULL;

    -- Content whose reports an operator has rejected: no further report of it is taken.
    CREATE TABLE cleared_contents (
      content_hash text PRIMARY KEY,
      actor text NOT NULL,
      reason text NOT NULL CHECK (reason <> ''),
      cleared_at timestamptz NOT NULL DEFAULT now()
    );
  `.execute(db);
}
