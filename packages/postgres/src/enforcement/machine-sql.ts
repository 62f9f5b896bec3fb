import { statesOf, transitionsOf, type Machine } from '@pasteflow/domain';
import { INVALID_TRANSITION_SQLSTATE } from '../database/errors.ts';

/** Where the recorder triggers say what has changed: see recorderTrigger. */
export const CHANGES_CHANNEL = 'pasteflow_changes';

/** Names and states come from our own tables in packages/domain; quoting keeps a future apostrophe from breaking the statement. */
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

export interface CheckConstraint {
  readonly table: string;
  readonly name: string;
  readonly expression: string;
}

/** The CHECK that admits exactly the machine's states. */
export function stateCheck(machine: Machine): CheckConstraint {
  const { table, column } = machine.storedIn;
  const states = statesOf(machine).map(literal).join(', ');
  return { table, name: `${table}_${column}_states`, expression: `${column} IN (${states})` };
}

/** A trigger and the function of the same name that it runs. */
export interface StateTrigger {
  readonly table: string;
  readonly name: string;
  /** The function's body, as Postgres keeps it in pg_proc.prosrc. */
  readonly body: string;
  /** Settings of the function, e.g. `SET enable_nestloop = off`. */
  readonly settings: string;
  /** What follows the trigger's name. */
  readonly definition: string;
}

/**
 * Refuses every change of the machine's column which its table does not allow, from any client. `IS NOT TRUE` also refuses NULL. DETAIL is
 * JSON, so that a client needn't read the message to know the states.
 */
export function guardTrigger(machine: Machine): StateTrigger {
  const { table, column } = machine.storedIn;
  const allowed = transitionsOf(machine).map(([from, to]) => `(${literal(from)}, ${literal(to)})`);
  return {
    table,
    name: `guard_${machine.name}`,
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

/** A payload may have 7999 bytes, and an id with its comma takes 37. */
const MAX_NOTIFIED_IDS = 150;

/**
 * Writes one row of `state_transitions` for each transition of any machine stored in the table: one INSERT a statement, however many rows
 * changed. Without `enable_nestloop = off` plpgsql keeps the nested-loop plan of its first, small call, which takes 92 ms instead of
 * 14 ms for 1000 rows. Transition tables exclude a column list in the trigger.
 *
 * Then one NOTIFY a statement that has changed anything that clients watch: the ids of the pastes and jobs of its rows, or `*` for many.
 * In order, so that a settlement's two, of the executions and of the pastes, are one to Postgres, which folds equal ones of a transaction.
 */
export function recorderTrigger(table: string, machinesOfTable: readonly Machine[]): StateTrigger {
  const changes = machinesOfTable.map(({ name, storedIn: { column, reasonColumn } }) => {
    const reason = reasonColumn === null ? 'NULL' : `n.${reasonColumn}`;
    return `(${literal(name)}, o.${column}, n.${column}, ${reason})`;
  });
  return {
    table,
    name: `record_${table}`,
    settings: 'SET enable_nestloop = off',
    body: `
    DECLARE
      recorded bigint;
    BEGIN
      INSERT INTO state_transitions (machine, entity, "from", "to", actor, reason)
        SELECT change.machine, n.id, change.old_state, change.new_state,
          coalesce(nullif(current_setting('pasteflow.actor', true), ''),
            session_user || ' (' || coalesce(nullif(current_setting('application_name'), ''), 'sql') || ')'),
          coalesce(change.reason, nullif(current_setting('pasteflow.reason', true), ''))
        FROM old_rows o JOIN new_rows n ON n.id = o.id
        CROSS JOIN LATERAL (VALUES ${changes.join(', ')}) AS change (machine, old_state, new_state, reason)
        WHERE change.old_state <> change.new_state;
      GET DIAGNOSTICS recorded = ROW_COUNT;
      ${notification(machinesOfTable)}
      RETURN NULL;
    END`,
    definition: `AFTER UPDATE ON ${table} REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT`,
  };
}

/** A statement's rows may be more than those it moved; most statements move all of theirs, and are told by their count alone. */
function notification(machinesOfTable: readonly Machine[]): string {
  const watched = machinesOfTable.flatMap(({ storedIn }) => storedIn.watchedColumns);
  const [subjectColumn] = machinesOfTable.map(({ storedIn }) => storedIn.subjectColumn);
  const values = (row: string): string => watched.map((column) => `${row}.${column}`).join(', ');
  const otherwise =
    watched.length === 0
      ? ''
      : ` OR EXISTS (
        SELECT FROM old_rows o JOIN new_rows n ON n.id = o.id WHERE (${values('n')}) IS DISTINCT FROM (${values('o')}))`;
  return `IF recorded > ${MAX_NOTIFIED_IDS} THEN
        PERFORM pg_notify('${CHANGES_CHANNEL}', '*');
      ELSIF recorded > 0${otherwise} THEN
        PERFORM pg_notify('${CHANGES_CHANNEL}', CASE WHEN count(*) > ${MAX_NOTIFIED_IDS} THEN '*' ELSE string_agg(id, ',' ORDER BY id) END)
        FROM (SELECT ${subjectColumn}::text AS id FROM new_rows) AS changed;
      END IF;`;
}
