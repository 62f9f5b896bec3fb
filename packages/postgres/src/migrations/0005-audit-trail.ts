import { sql, type Kysely } from 'kysely';

/**
 * Who moved what from which state to which, and how long that took. The triggers of the enforcement write
 * both.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- Partitioned by month, so that old transitions are removed by dropping a table. The default partition takes rows
    -- without a partition of their own: a transition never fails because a sweep did not run.
    -- No primary key: no query uses one, and it would make a claim of 1,000 pastes slower by 12 %.
    CREATE SEQUENCE state_transitions_id_seq;
    CREATE TABLE state_transitions (
      id bigint NOT NULL DEFAULT nextval('state_transitions_id_seq'),
      machine text NOT NULL,
      entity uuid NOT NULL,
      "from" text NOT NULL,
      "to" text NOT NULL,
      at timestamptz NOT NULL DEFAULT clock_timestamp(),
      actor text NOT NULL,
      reason text
    ) PARTITION BY RANGE (at);
    ALTER SEQUENCE state_transitions_id_seq OWNED BY state_transitions.id;
    -- An entity has about three transitions, so that Postgres may sort what it finds.
    CREATE INDEX state_transitions_of_entity ON state_transitions (entity);
    CREATE TABLE state_transitions_default PARTITION OF state_transitions DEFAULT;
    -- Only the default partition is searched by time.
    CREATE INDEX state_transitions_default_at ON state_transitions_default (at, id);

    -- The times of each statement's transitions, until the janitor counts and deletes them. A row is never
    -- changed, and a publication of all tables needs an identity for its deletion.
    CREATE TABLE uncounted_transitions (
      machine text NOT NULL,
      "from" text NOT NULL,
      "to" text NOT NULL,
      at timestamptz NOT NULL DEFAULT clock_timestamp(),
      seconds real[] NOT NULL
    ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
    ALTER TABLE uncounted_transitions REPLICA IDENTITY FULL;

    -- buckets: cumulative, as in Prometheus.
    CREATE TABLE transition_statistics (
      machine text NOT NULL,
      "from" text NOT NULL,
      "to" text NOT NULL,
      count bigint NOT NULL,
      seconds double precision NOT NULL,
      buckets bigint[] NOT NULL,
      PRIMARY KEY (machine, "from", "to")
    ) WITH (fillfactor = 80);
  `.execute(db);
}
