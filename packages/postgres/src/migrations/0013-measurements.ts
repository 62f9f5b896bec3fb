import { sql, type Kysely } from 'kysely';
import { lockAtOnce } from './lock-at-once.ts';

/**
 * The tables that the metrics are read from. `state_transitions.txid` is the transaction that wrote the row.
 * Ids and times are assigned before the commit, and not in its order, but the rows of all transactions before
 * the xmin of the snapshot are final. Rows older than this migration have no txid and are not counted. The
 * default is set in a separate step: otherwise Postgres would rewrite each old row. The partial index still
 * reads these rows once, and writes wait for it. The primary key is dropped, since no query uses it: one more
 * index would make a claim of 1000 pastes slower by 12 %. Only the default partition is searched by time.
 *
 * `transition_cursor` has one row: everything up to (txid, id) has been counted, and `greatest_id` is the
 * greatest id counted. When a dump is restored, ids continue and transaction numbers do not: `ids_above` then
 * skips the rows that were counted before the dump. In `transition_statistics`, `buckets` are cumulative, as
 * in Prometheus. `sweep_runs` has the last run of each sweep, on any janitor.
 *
 * The index of leases contains no state any more. With `status = 'RUNNING'` in its condition, Postgres would
 * read `task_executions_open` in full as long as its statistics do not include a backlog: 8,000 pages of
 * 20,000 waiting uploads, to find ten running ones. `jobs_open` contains only open jobs. The indexes on jobs
 * contain the status already, so that it costs no HOT update.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await lockAtOnce(db, ['jobs', 'task_executions', 'state_transitions']);
  await sql`ALTER TABLE state_transitions ADD COLUMN txid xid8`.execute(db);
  await sql`ALTER TABLE state_transitions ALTER COLUMN txid SET DEFAULT pg_current_xact_id()`.execute(db);
  await sql`CREATE INDEX state_transitions_commit ON state_transitions (txid, id) WHERE txid IS NOT NULL`.execute(
    db,
  );
  await sql`ALTER TABLE state_transitions DROP CONSTRAINT state_transitions_pkey`.execute(db);
  await sql`CREATE INDEX state_transitions_default_at ON state_transitions_default (at, id)`.execute(db);
  await sql`
    CREATE TABLE transition_cursor (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      txid xid8 NOT NULL DEFAULT '0',
      id bigint NOT NULL DEFAULT 0,
      greatest_id bigint NOT NULL DEFAULT 0,
      ids_above bigint NOT NULL DEFAULT 0
    ) WITH (fillfactor = 10)`.execute(db);
  await sql`INSERT INTO transition_cursor DEFAULT VALUES`.execute(db);
  await sql`
    CREATE TABLE transition_statistics (
      machine text NOT NULL,
      "from" text NOT NULL,
      "to" text NOT NULL,
      count bigint NOT NULL,
      seconds double precision NOT NULL,
      buckets bigint[] NOT NULL,
      PRIMARY KEY (machine, "from", "to")
    ) WITH (fillfactor = 50)`.execute(db);
  await sql`
    CREATE TABLE sweep_runs (
      sweep text PRIMARY KEY,
      started_at timestamptz NOT NULL,
      ended_at timestamptz NOT NULL,
      outcome text NOT NULL CHECK (outcome IN ('done', 'failed')),
      last_success_at timestamptz,
      seconds double precision NOT NULL,
      counts jsonb NOT NULL,
      janitor text NOT NULL
    ) WITH (fillfactor = 50)`.execute(db);
  await sql`DROP INDEX task_executions_leases`.execute(db);
  await sql`CREATE INDEX task_executions_leases ON task_executions (lease_expires_at) WHERE lease_expires_at IS NOT NULL`.execute(
    db,
  );
  await sql`CREATE INDEX jobs_open ON jobs (status, created_at) WHERE completed_at IS NULL`.execute(db);
}
