import type { Machine } from '@pasteflow/domain';
import { FORBIDDEN_CHANGE_SQLSTATE } from '../database/errors.ts';
import { literal, type EnforcedTrigger } from '../database/objects.ts';

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
