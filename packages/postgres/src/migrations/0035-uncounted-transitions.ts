import { sql, type Kysely } from 'kysely';
import { lockAtOnce } from './lock-at-once.ts';

/**
 * The recorders write the times of each statement's transitions to `uncounted_transitions`, from which the janitor deletes what it counts.
 * The rows of the audit trail no longer have their transaction, and the partial index by transaction gets no new entry: 280 bytes of WAL
 * less for each paste. See docs/adr/0067-recorders-leave-transitions-to-count.md. The column, the index and the cursor stay for the janitors
 * of the release before, which find nothing to count. The next release removes all three.
 *
 * Every transition counts once, also those of running services: what was not counted before is moved under the lock, and the recorders are
 * replaced in the same transaction.
 *
 * The owner of the audit trail owns the new table, because the recorders run with the rights of that owner. A row is never changed, and a
 * publication of all tables needs an identity for its deletion.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // A statement that waited for the audit trail alone would end with the old recorder.
  await lockAtOnce(db, ['pastes', 'jobs', 'task_executions', 'state_transitions', 'transition_cursor']);
  await sql`
    CREATE TABLE uncounted_transitions (
      machine text NOT NULL,
      "from" text NOT NULL,
      "to" text NOT NULL,
      at timestamptz NOT NULL DEFAULT clock_timestamp(),
      seconds real[] NOT NULL
    ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`.execute(db);
  await sql`ALTER TABLE uncounted_transitions REPLICA IDENTITY FULL`.execute(db);
  await sql`
    DO $$ BEGIN
      EXECUTE format('ALTER TABLE uncounted_transitions OWNER TO %I',
        (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = 'state_transitions'::regclass));
    END $$`.execute(db);
  await moveUncounted(db);
  await replaceRecorders(db);
  await sql`ALTER TABLE state_transitions ALTER COLUMN txid DROP DEFAULT`.execute(db);
  await sql`
    UPDATE transition_cursor SET txid = pg_snapshot_xmax(pg_current_snapshot()), id = 0,
      ids_above = (SELECT last_value FROM state_transitions_id_seq)`.execute(db);
}

/**
 * The lock has let all writers end, so that the rows after the cursor are all that was not counted, and no more will come: a range of the
 * index. If the cursor is ahead of this transaction, Postgres was restored from a dump, and rows of transactions up to the cursor are
 * uncounted when their ids are greater than any counted one. A thousand times go into a row, as in the recorders.
 */
async function moveUncounted(db: Kysely<unknown>): Promise<void> {
  await sql`
    INSERT INTO uncounted_transitions (machine, "from", "to", at, seconds)
    SELECT machine, "from", "to", min(at), array_agg(greatest(0, date_part('epoch', at - coalesce(earlier_at, made_at)))::real)
    FROM (
      SELECT t.*, row_number() OVER () / 1000 AS part, (
          SELECT e.at FROM state_transitions e WHERE e.entity = t.entity AND e.machine = t.machine AND e.at <= t.at AND e.id < t.id
          ORDER BY e.at DESC, e.id DESC LIMIT 1
        ) AS earlier_at,
        CASE substr(t.entity::text, 15, 1) WHEN '7' THEN to_timestamp(
          ('x' || lpad(translate(left(t.entity::text, 13), '-', ''), 16, '0'))::bit(64)::bigint / 1000.0) END AS made_at
      FROM transition_cursor c CROSS JOIN LATERAL (
        SELECT * FROM state_transitions s WHERE (s.txid, s.id) > (c.txid, c.id) AND s.id > c.ids_above AND s.txid IS NOT NULL
        UNION ALL
        SELECT * FROM state_transitions s WHERE c.txid > pg_current_xact_id() AND (s.txid, s.id) <= (c.txid, c.id)
          AND s.id > greatest(c.greatest_id, c.ids_above) AND s.txid IS NOT NULL
      ) AS t
    ) AS uncounted
    GROUP BY machine, "from", "to", part`.execute(db);
}

/** The recorders of this version. In an empty database there are none yet: the enforcement is installed after the migrations. */
async function replaceRecorders(db: Kysely<unknown>): Promise<void> {
  const recorders = {
    pastes: `
      ('paste_upload', o.status, n.status, n.failure_reason, o.created_at),
      ('paste_deletion', o.deletion_status, n.deletion_status, NULL, coalesce(o.deletion_initiated_at, o.created_at))`,
    jobs: `
      ('job', o.status, n.status, n.error_message, CASE WHEN o.status <> n.status THEN CASE o.status WHEN 'queued' THEN o.created_at
        ELSE (SELECT at FROM state_transitions WHERE entity = o.id ORDER BY id DESC LIMIT 1) END END)`,
    task_executions: `
      ('task_execution', o.status, n.status, n.error, coalesce(o.started_at, o.created_at))`,
  };
  const { rows } = await sql<{ name: string; schema: string }>`
    SELECT proname AS name, current_schema() AS schema FROM pg_proc
    WHERE pronamespace = current_schema()::regnamespace AND prorettype = 'trigger'::regtype`.execute(db);
  for (const [table, changes] of Object.entries(recorders)) {
    const found = rows.find(({ name }) => name === `record_${table}`);
    if (found === undefined) continue;
    await sql`
      CREATE OR REPLACE FUNCTION ${sql.id(found.name)}() RETURNS trigger LANGUAGE plpgsql
      SECURITY DEFINER SET search_path = ${sql.id(found.schema)}, pg_temp SET enable_nestloop = off AS $body$
      BEGIN
        WITH changed AS MATERIALIZED (
          SELECT change.*, n.id, clock_timestamp() AS at, row_number() OVER () / 1000 AS part FROM old_rows o JOIN new_rows n ON n.id = o.id
          CROSS JOIN LATERAL (VALUES ${sql.raw(changes)}) AS change (machine, old_state, new_state, reason, since)
          WHERE change.old_state <> change.new_state
        ), uncounted AS (
          INSERT INTO uncounted_transitions (machine, "from", "to", seconds)
            SELECT machine, old_state, new_state, array_agg(greatest(0, date_part('epoch', at - since))::real)
            FROM changed GROUP BY machine, old_state, new_state, part
        )
        INSERT INTO state_transitions (machine, entity, "from", "to", at, actor, reason)
          SELECT machine, id, old_state, new_state, at,
            coalesce(nullif(current_setting('pasteflow.actor', true), ''),
              session_user || ' (' || coalesce(nullif(current_setting('application_name'), ''), 'sql') || ')'),
            coalesce(reason, nullif(current_setting('pasteflow.reason', true), ''))
          FROM changed;
        RETURN NULL;
      END $body$`.execute(db);
  }
}
