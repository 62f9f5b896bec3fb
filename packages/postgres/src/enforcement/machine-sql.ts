import { openStatesOf, statesOf, transitionsOf, type Machine } from '@pasteflow/domain';
import { INVALID_TRANSITION_SQLSTATE, FORBIDDEN_CHANGE_SQLSTATE } from '../database/errors.ts';
import { NO_NESTED_LOOPS } from '../database/planner.ts';
import { literal, type CheckConstraint, type EnforcedTrigger } from '../database/objects.ts';

/** The CHECK that accepts the states of the machine and no other value. */
export function stateCheck(machine: Machine): CheckConstraint {
  const { table, column } = machine.storedIn;
  const states = statesOf(machine).map(literal).join(', ');
  return { table, name: `${table}_${column}_states`, expression: `${column} IN (${states})` };
}

/**
 * Refuses each transition that the table does not allow, from any client. `IS NOT TRUE` also refuses NULL.
 * DETAIL is JSON, so that a client gets the states without parsing the message.
 */
export function guardTrigger(machine: Machine): EnforcedTrigger {
  const { table, column } = machine.storedIn;
  const allowed = transitionsOf(machine).map(([from, to]) => `(${literal(from)}, ${literal(to)})`);
  return {
    table,
    name: `guard_${machine.name}`,
    function: `guard_${machine.name}`,
    runsAsOwner: false,
    settings: '',
    body: `
    BEGIN
      IF ((OLD.${column}, NEW.${column}) IN (${allowed.join(', ')})) IS NOT TRUE THEN
        RAISE EXCEPTION 'Cannot transition from ''%'' to ''%''', OLD.${column}, NEW.${column} USING
          ERRCODE = '${INVALID_TRANSITION_SQLSTATE}',
          DETAIL = json_build_object('machine', ${literal(machine.name)}, 'entity', OLD.id, 'from', OLD.${column}, 'to', NEW.${column}),
          TABLE = TG_TABLE_NAME, COLUMN = ${literal(column)};
      END IF;
      RETURN NEW;
    END`,
    definition: `BEFORE UPDATE ON ${table} FOR EACH ROW WHEN (OLD.${column} IS DISTINCT FROM NEW.${column})`,
  };
}

/**
 * Writes the audit trail: a row of `state_transitions` for each transition of any machine that the table
 * stores, with one INSERT for each statement, however many rows changed. A row of `uncounted_transitions` for
 * each kind of transition in the statement has the times that its rows spent in the old state, for the
 * metrics; a thousand times at most, so that the janitor can count the rows of a large statement in batches.
 *
 * A trigger with transition tables cannot have a column list. The
 * function runs as the owner of the tables, because no role of a service may write the audit trail itself.
 * UNION ALL instead of VALUES, whose rows Postgres would prepare anew for each row of the table: that took a
 * tenth of the CPU time of a claim of 1,000 pastes.
 *
 * The trigger sends no NOTIFY: a commit that notifies takes one lock of the whole cluster (ADR 20).
 */
export function recorderTrigger(table: string, machinesOfTable: readonly Machine[]): EnforcedTrigger {
  const changes = machinesOfTable.map((machine) => {
    const { name, storedIn } = machine;
    const { column, reasonColumn } = storedIn;
    const reason = reasonColumn === null ? 'NULL' : `n.${reasonColumn}`;
    return `SELECT ${literal(name)}, o.${column}, n.${column}, ${reason}, ${enteredAt(machine)}`;
  });
  return {
    table,
    name: `record_${table}`,
    function: `record_${table}`,
    runsAsOwner: true,
    settings: NO_NESTED_LOOPS,
    body: `
    BEGIN
      WITH changed AS MATERIALIZED (
        SELECT change.*, n.id, clock_timestamp() AS at, row_number() OVER () / 1000 AS part FROM old_rows o JOIN new_rows n ON n.id = o.id
        CROSS JOIN LATERAL (${changes.join(' UNION ALL ')}) AS change (machine, old_state, new_state, reason, since)
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
    END`,
    definition: `AFTER UPDATE ON ${table} REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT`,
  };
}

/**
 * When the old row entered the state that it leaves. The initial state counts from the creation, also when
 * the row came back to it: for a paste this takes no read of the audit trail.
 */
function enteredAt(machine: Machine): string {
  const { initial, states, storedIn } = machine;
  const { column } = storedIn;
  const times = openStatesOf(machine).map((state) => {
    const since = state === initial ? 'created_at' : states[state]?.since;
    return `WHEN ${literal(state)} THEN ${since === undefined ? lastTransition(machine) : `o.${since}`}`;
  });
  return `CASE WHEN o.${column} <> n.${column} THEN CASE o.${column} ${times.join(' ')} END END`;
}

function lastTransition({ name }: Machine): string {
  return `(SELECT at FROM state_transitions WHERE entity = o.id AND machine = ${literal(name)} ORDER BY id DESC LIMIT 1)`;
}

/**
 * Refuses a new row in any state but the initial one, from any client. The condition is in the definition, so
 * that an ordinary INSERT calls no function.
 *
 * An import of rows that have a history sets `pasteflow.import` to `on` (docs/deploy.md, "Backup and
 * restore"). Only the owner of the table may do so: for any other role the setting has no effect.
 */
export function insertGuard({ name, initial, storedIn: { table, column } }: Machine): EnforcedTrigger {
  const guard = `guard_${name}_insert`;
  return {
    table,
    name: guard,
    function: guard,
    runsAsOwner: false,
    settings: '',
    body: `
    BEGIN
      IF current_setting('pasteflow.import', true) = 'on' AND pg_has_role(current_user,
        (SELECT relowner FROM pg_catalog.pg_class WHERE oid = TG_RELID), 'USAGE') THEN RETURN NEW; END IF;
      RAISE EXCEPTION 'A row of % cannot be inserted with % ''%''. Insert it as ${initial} and make the transitions. Imports: see docs/deploy.md, "Backup and restore".',
        TG_TABLE_NAME, ${literal(column)}, NEW.${column} USING
        ERRCODE = '${FORBIDDEN_CHANGE_SQLSTATE}', TABLE = TG_TABLE_NAME, COLUMN = ${literal(column)};
    END`,
    definition: `BEFORE INSERT ON ${table} FOR EACH ROW WHEN (NEW.${column} IS DISTINCT FROM ${literal(initial)})`,
  };
}

/**
 * Refuses a change of a column that says what a row is, from any client. The audit trail names rows by their
 * id, and the recorder finds the old state of a row by it. An UPDATE that sets none of these columns does not
 * evaluate the condition.
 */
export function identityGuard(table: string, columns: readonly string[]): EnforcedTrigger {
  const guard = `guard_${table}_identity`;
  const values = (row: string): string => columns.map((column) => `${row}.${column}`).join(', ');
  return {
    table,
    name: guard,
    function: guard,
    runsAsOwner: false,
    settings: '',
    body: `
    BEGIN
      RAISE EXCEPTION 'The columns ${columns.join(', ')} of % do not change. Insert a new row instead.', TG_TABLE_NAME USING
        ERRCODE = '${FORBIDDEN_CHANGE_SQLSTATE}', TABLE = TG_TABLE_NAME;
    END`,
    definition: `BEFORE UPDATE OF ${columns.join(', ')} ON ${table} FOR EACH ROW WHEN ((${values('OLD')}) IS DISTINCT FROM (${values('NEW')}))`,
  };
}
