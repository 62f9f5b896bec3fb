import { FORBIDDEN_CHANGE_SQLSTATE } from '../database/errors.ts';
import type { EnforcedTrigger, OwnerFunction } from '../database/objects.ts';

const TRAIL_GUARD = 'guard_state_transitions';
const MIN_RETENTION_DAYS = 7;

/**
 * Makes the audit trail append-only. Only the functions below remove transitions, a month at a time, by
 * dropping a partition.
 * @param table `state_transitions` or one of its partitions: a statement that names a partition executes no
 * trigger of the parent
 */
export function trailGuard(table: string): EnforcedTrigger {
  return {
    table,
    name: TRAIL_GUARD,
    function: TRAIL_GUARD,
    runsAsOwner: false,
    settings: '',
    body: `
    BEGIN
      RAISE EXCEPTION '% of % is refused: the audit trail is append-only.', TG_OP, TG_TABLE_NAME USING
        ERRCODE = '${FORBIDDEN_CHANGE_SQLSTATE}', TABLE = TG_TABLE_NAME;
    END`,
    definition: trailGuardOn(table),
  };
}

const trailGuardOn = (table: string): string =>
  `BEFORE UPDATE OR DELETE OR TRUNCATE ON ${table} FOR EACH STATEMENT`;

/** Statements of plpgsql that guard a new partition from its creation on. */
const guardPartition = (name: string): string => `
      EXECUTE format('CREATE TRIGGER ${TRAIL_GUARD} ${trailGuardOn('%I')} EXECUTE FUNCTION ${TRAIL_GUARD}()', ${name});
      EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER ${TRAIL_GUARD}', ${name});
      EXECUTE format('COMMENT ON TRIGGER ${TRAIL_GUARD} ON %I IS %L', ${name}, format('${trailGuardOn('%s')}', ${name}));`;

/** Creates the missing partitions of this month and the next ones. Returns how many it created. */
const ensurePartitions: OwnerFunction = {
  name: 'ensure_transition_partitions',
  parameters: 'months_ahead integer',
  returns: 'integer',
  body: `
    DECLARE
      month date := date_trunc('month', now() AT TIME ZONE 'UTC');
      made integer := 0;
      name text;
      since timestamptz;
      until timestamptz;
    BEGIN
      IF months_ahead NOT BETWEEN 0 AND 24 THEN RAISE EXCEPTION 'months_ahead is %, and must be 0 to 24', months_ahead; END IF;
      FOR i IN 0..months_ahead LOOP
        name := 'state_transitions_' || to_char(month + make_interval(months => i), 'YYYY_MM');
        since := (month + make_interval(months => i)) AT TIME ZONE 'UTC';
        until := (month + make_interval(months => i + 1)) AT TIME ZONE 'UTC';
        -- A month that already has rows in the default partition stays there: Postgres refuses to split it off.
        CONTINUE WHEN to_regclass(name) IS NOT NULL
          OR EXISTS (SELECT FROM state_transitions_default d WHERE d.at >= since AND d.at < until);
        -- Not %L of a timestamptz, whose text depends on the DateStyle and the TimeZone of the session.
        EXECUTE format('CREATE TABLE %I PARTITION OF state_transitions FOR VALUES FROM (%L) TO (%L)', name,
          to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD 00:00:00+00'), to_char(until AT TIME ZONE 'UTC', 'YYYY-MM-DD 00:00:00+00'));${guardPartition('name')}
        made := made + 1;
      END LOOP;
      RETURN made;
    END`,
};

/**
 * Drops the oldest partition whose month ended before the retention, or else the default partition once its
 * newest transition is older than that. Returns the name of the partition, or NULL when none is old enough.
 * A retention of less than 7 days is an error: a mistaken or hostile caller cannot empty the audit trail.
 */
const dropPartition: OwnerFunction = {
  name: 'drop_old_transitions',
  parameters: 'retention_seconds double precision',
  returns: 'text',
  body: `
    DECLARE
      before timestamptz;
      name text;
    BEGIN
      IF (retention_seconds BETWEEN ${MIN_RETENTION_DAYS * 86_400} AND 1e10) IS NOT TRUE THEN
        RAISE EXCEPTION 'transitions are kept for at least ${MIN_RETENTION_DAYS} days, not for % s', retention_seconds;
      END IF;
      before := now() - make_interval(secs => retention_seconds);
      SELECT c.relname INTO name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'state_transitions'::regclass AND c.relname ~ '^state_transitions_[0-9]{4}_[0-9]{2}$'
          AND (to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month') AT TIME ZONE 'UTC' < before
        ORDER BY 1 LIMIT 1;
      IF name IS NOT NULL THEN
        EXECUTE format('DROP TABLE %I', name);
        RETURN name;
      END IF;
      IF (SELECT max(at) < before FROM state_transitions_default) IS NOT TRUE THEN RETURN NULL; END IF;
      LOCK TABLE state_transitions IN ACCESS EXCLUSIVE MODE;
      IF (SELECT max(at) < before FROM state_transitions_default) IS NOT TRUE THEN RETURN NULL; END IF;
      name := 'state_transitions_default';
      DROP TABLE state_transitions_default;
      CREATE TABLE state_transitions_default PARTITION OF state_transitions DEFAULT;
      CREATE INDEX state_transitions_default_at ON state_transitions_default (at, id);${guardPartition('name')}
      RETURN name;
    END`,
};

export const trailFunctions: readonly OwnerFunction[] = [ensurePartitions, dropPartition];
