import type { Schema } from '../schema/schema.ts';
import { rights } from './rights.ts';
import { functionCallers, type TableRights } from './role-rights.ts';
import type { ServiceRole } from './role-names.ts';

/** One right of one role, as Postgres stores it. */
export interface Privilege {
  /** A role, or `PUBLIC`: every role. */
  readonly role: string;
  readonly action: string;
  /** null: on the whole table, or on a function. */
  readonly column: string | null;
  /** A table, a sequence or a function. */
  readonly object: string;
  readonly kind: 'relation' | 'function';
}

/** `pasteflow_api: UPDATE (expires_at) ON pastes`. */
export function describePrivilege({ role, action, column, object }: Privilege): string {
  return `${role}: ${action}${column === null ? '' : ` (${column})`} ON ${object}`;
}

/** Everything that rights.ts grants to one role. */
export function privilegesOf(role: ServiceRole): readonly Privilege[] {
  const tables = Object.entries(rights[role]) as [
    keyof Schema,
    TableRights<Record<string, unknown>> | 'none',
  ][];
  return [
    ...tables.flatMap(([table, decision]) => (decision === 'none' ? [] : ofTable(role, table, decision))),
    ...objectsOf(functionCallers, role).map((name): Privilege => ({
      role,
      action: 'EXECUTE',
      column: null,
      object: name,
      kind: 'function',
    })),
  ];
}

function ofTable(
  role: ServiceRole,
  table: string,
  { select = [], insert = [], update = [], delete: mayDelete }: TableRights<Record<string, unknown>>,
): readonly Privilege[] {
  const on = { role, object: table, kind: 'relation' } as const;
  const onColumns = (action: string, columns: 'all' | readonly string[]): Privilege[] =>
    columns === 'all'
      ? [{ ...on, action, column: null }]
      : columns.map((column) => ({ ...on, action, column }));
  return [
    ...onColumns('SELECT', select),
    ...onColumns('INSERT', insert),
    ...onColumns('UPDATE', update),
    ...(mayDelete === true ? [{ ...on, action: 'DELETE', column: null }] : []),
  ];
}

function objectsOf(
  table: Readonly<Record<string, readonly ServiceRole[]>>,
  role: ServiceRole,
): readonly string[] {
  return Object.entries(table).flatMap(([object, roles]) => (roles.includes(role) ? [object] : []));
}
