import { sql, type Kysely } from 'kysely';

/**
 * Partitioned by month, so that old transitions are removed by dropping a table. The default partition has
 * the rows for which there is no partition: a transition never fails because a sweep did not run. The
 * tombstones sweep drops the partitions of past months.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE SEQUENCE state_transitions_id_seq`.execute(db);
  await sql`
    CREATE TABLE state_transitions (
      id bigint NOT NULL DEFAULT nextval('state_transitions_id_seq'),
      machine text NOT NULL,
      entity uuid NOT NULL,
      "from" text NOT NULL,
      "to" text NOT NULL,
      at timestamptz NOT NULL DEFAULT clock_timestamp(),
      actor text NOT NULL,
      reason text,
      PRIMARY KEY (at, id)
    ) PARTITION BY RANGE (at)`.execute(db);
  await sql`ALTER SEQUENCE state_transitions_id_seq OWNED BY state_transitions.id`.execute(db);
  await sql`CREATE INDEX state_transitions_entity ON state_transitions (entity, at, id)`.execute(db);
  await sql`CREATE TABLE state_transitions_default PARTITION OF state_transitions DEFAULT`.execute(db);
  await sql`
    CREATE FUNCTION ensure_transition_partitions(months_ahead integer) RETURNS integer LANGUAGE plpgsql AS $$
    DECLARE
      month date := date_trunc('month', now() AT TIME ZONE 'UTC');
      made integer := 0;
      name text;
      since timestamptz;
      until timestamptz;
    BEGIN
      FOR i IN 0..months_ahead LOOP
        name := 'state_transitions_' || to_char(month + make_interval(months => i), 'YYYY_MM');
        since := (month + make_interval(months => i)) AT TIME ZONE 'UTC';
        until := (month + make_interval(months => i + 1)) AT TIME ZONE 'UTC';
        -- A month that already has rows in the default partition stays there: Postgres refuses to split it off.
        CONTINUE WHEN to_regclass(name) IS NOT NULL
          OR EXISTS (SELECT FROM state_transitions_default d WHERE d.at >= since AND d.at < until);
        EXECUTE format('CREATE TABLE %I PARTITION OF state_transitions FOR VALUES FROM (%L) TO (%L)', name, since, until);
        made := made + 1;
      END LOOP;
      RETURN made;
    END $$`.execute(db);
  await sql`SELECT ensure_transition_partitions(2)`.execute(db);
}
