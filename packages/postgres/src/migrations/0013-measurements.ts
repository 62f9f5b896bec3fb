import { sql, type Kysely } from 'kysely';

/**
 * What the metrics are read from. `state_transitions.txid` is the transaction that wrote a row: ids and times are given before the commit, and
 * out of its order, but all that a transaction before the snapshot's xmin wrote is there for good. Rows from before this migration have
 * none, and aren't counted; the default comes in a step of its own, or Postgres would write every old row anew. The partial index still
 * reads them once, and writes wait for it. In exchange the primary key goes, by which nothing is looked up: an index more would make a claim
 * of 1000 slower by 12 %. Only the default partition is searched by time.
 *
 * `transition_cursor` is its one row: everything up to (txid, id) has been counted, and `greatest_id` is the greatest id among it. Ids go on
 * where they were in a dump that is restored, and transaction numbers don't: `ids_above` then leaves out what was counted in the former life.
 * In `transition_statistics`, `buckets` are cumulative, as Prometheus wants them. `sweep_runs` has the last run of each sweep, whichever
 * janitor ran it.
 *
 * The index of leases names no state any more: for `status = 'RUNNING'` Postgres would rather read `task_executions_open`, whole, as long as its
 * statistics know nothing of a backlog: 8,000 pages of 20,000 uploads that wait, to find ten that run. `jobs_open` has only what hasn't ended; the indexes on jobs name the status already, so that it costs no HOT update.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await lockAtOnce(db);
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

/**
 * All at once or none: whoever works meanwhile takes these tables in any order, and would be in a deadlock with us. Waiting ends before Postgres
 * looks for one (after 1 s), and what has been locked is let go. An autovacuum only makes way for who waits longer than that: the first lock, which is in no
 * writer's way, sends it away and keeps it away. All migrations that are due are one transaction: assets are the next one's.
 */
async function lockAtOnce(db: Kysely<unknown>): Promise<void> {
  await sql`
    DO $$ BEGIN
      SET LOCAL lock_timeout = '30s';
      LOCK TABLE jobs, task_executions, assets, state_transitions IN SHARE UPDATE EXCLUSIVE MODE;
      SET LOCAL lock_timeout = '300ms';
      FOR tries IN 1..100 LOOP
        BEGIN
          LOCK TABLE jobs, task_executions, assets, state_transitions IN ACCESS EXCLUSIVE MODE;
          EXIT;
        EXCEPTION WHEN lock_not_available THEN
          IF tries = 100 THEN RAISE; END IF;
          PERFORM pg_sleep(0.3 * random());
        END;
      END LOOP;
      SET LOCAL lock_timeout TO DEFAULT;
    END $$`.execute(db);
}
