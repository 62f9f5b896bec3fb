import { installStateMachines, type Database } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { email } from './email.ts';

/**
 * Creates the table, and makes Postgres enforce its machine: the CHECK of the states, the triggers that refuse
 * every other transition, and the audit trail. The database is one that `npm run migrate` has prepared.
 */
export async function installEmails(db: Database): Promise<void> {
  await sql`
    CREATE TABLE IF NOT EXISTS emails (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      recipient text NOT NULL,
      body text NOT NULL,
      status text NOT NULL DEFAULT 'QUEUED',
      attempt integer NOT NULL DEFAULT 1,
      run_at timestamptz NOT NULL DEFAULT now(),
      dispatched_at timestamptz,
      claim uuid,
      claimed_at timestamptz,
      lease_expires_at timestamptz,
      error text,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT emails_claimed CHECK ((status = 'SENDING') = (claim IS NOT NULL)),
      CONSTRAINT emails_leased CHECK ((status = 'SENDING') = (lease_expires_at IS NOT NULL)),
      CONSTRAINT emails_failed_has_error CHECK (status <> 'FAILED' OR error IS NOT NULL)
    );
    CREATE INDEX IF NOT EXISTS emails_queued ON emails (run_at) WHERE status = 'QUEUED';
    CREATE INDEX IF NOT EXISTS emails_leases ON emails (lease_expires_at) WHERE lease_expires_at IS NOT NULL;
    -- The role that owns Pasteflow's tables: it installs the triggers.
    ALTER TABLE emails OWNER TO pasteflow_owner`.execute(db);
  await installStateMachines(db, [email]);
}
