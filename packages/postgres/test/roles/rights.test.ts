import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { findRightsGaps, migrate } from '../../src/index.ts';
import { rights } from '../../src/roles/rights.ts';
import { functionCallers, untypedTables, type TableRights } from '../../src/roles/role-rights.ts';
import { OWNER_ROLE, serviceRoles, type ServiceRole } from '../../src/roles/role-names.ts';
import { useOwnServer } from '../support/database.ts';

const current = useOwnServer({ fresh: 'file' });

const WHERE_TO_DECIDE = 'Decide what each service may do with it: packages/postgres/src/roles/rights.ts';

/**
 * What somebody with the rights of a role can do with the columns of a relation, by whatever way: `SELECT
 * (title)`.
 */
async function effectiveRights(role: ServiceRole): Promise<Readonly<Record<string, readonly string[]>>> {
  const { rows } = await sql<{ relation: string; actions: string[] }>`
    SELECT c.relname AS relation, array_remove(array_agg(CASE WHEN may THEN action END ORDER BY action), NULL) AS actions
    FROM pg_class c, LATERAL (
      SELECT a || ' (' || attname || ')', has_column_privilege(${role}, c.oid, attnum, a)
      FROM pg_attribute, unnest('{SELECT,INSERT,UPDATE,REFERENCES}'::text[]) AS a
      WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
      UNION ALL
      SELECT a, has_table_privilege(${role}, c.oid, a) FROM unnest('{DELETE,TRUNCATE,TRIGGER}'::text[]) AS a
    ) AS right_of (action, may)
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
    GROUP BY 1`.execute(current.db);
  return Object.fromEntries(rows.map(({ relation, actions }) => [relation, actions]));
}

async function columnsOf(table: string): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT attname AS name FROM pg_attribute
    WHERE attrelid = ${table}::regclass AND attnum > 0 AND NOT attisdropped`.execute(current.db);
  return rows.map(({ name }) => name);
}

async function decidedRights(table: string, decision: TableRights<Record<string, unknown>> | 'none') {
  if (decision === 'none') return [];
  const columns = await columnsOf(table);
  const actions = { SELECT: decision.select, INSERT: decision.insert, UPDATE: decision.update };
  return [
    ...Object.entries(actions).flatMap(([action, on = []]) =>
      (on === 'all' ? columns : on).map((column) => `${action} (${column})`),
    ),
    ...(decision.delete === true ? ['DELETE'] : []),
  ].toSorted();
}

describe.each(serviceRoles)('%s', (role) => {
  it('can do with each table exactly what rights.ts says', async () => {
    const actual = await effectiveRights(role);
    const decided: Record<string, readonly string[]> = {};
    for (const [table, decision] of Object.entries(rights[role]))
      decided[table] = await decidedRights(table, decision as TableRights<Record<string, unknown>> | 'none');
    for (const table of untypedTables) decided[table] = [];
    for (const relation of Object.keys(actual))
      expect([relation, decided[relation] ?? WHERE_TO_DECIDE]).toEqual([
        relation,
        actual[relation]?.toSorted(),
      ]);
    expect(Object.keys(decided).toSorted()).toEqual(Object.keys(actual).toSorted());
  });

  it('has no right on a partition, a sequence or a function of the owner that rights.ts does not name', async () => {
    const { rows } = await sql<{ name: string }>`
      SELECT relname AS name FROM pg_class c
      WHERE relnamespace = 'public'::regnamespace AND (
        relispartition AND has_any_column_privilege(${role}, oid, 'SELECT,INSERT,UPDATE,REFERENCES')
        OR relispartition AND has_table_privilege(${role}, oid, 'DELETE,TRUNCATE,TRIGGER')
        OR relkind = 'S' AND has_sequence_privilege(${role}, oid, 'USAGE,SELECT,UPDATE'))
      UNION ALL
      SELECT proname FROM pg_proc
      WHERE pronamespace = 'public'::regnamespace AND prosecdef AND has_function_privilege(${role}, oid, 'EXECUTE')
      ORDER BY 1`.execute(current.db);
    const callable = Object.entries(functionCallers).filter(([, roles]) => roles.includes(role));
    expect(rows.map(({ name }) => name)).toEqual(callable.map(([name]) => name).toSorted());
  });
});

it('pasteflow_owner owns every table, view, sequence and function, although a superuser has migrated', async () => {
  const { rows } = await sql<{ name: string }>`
    SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relowner <> ${OWNER_ROLE}::regrole
    UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proowner <> ${OWNER_ROLE}::regrole`.execute(
    current.db,
  );
  expect(rows).toEqual([]);
});

describe('findRightsGaps', () => {
  it.each([
    ['GRANT DELETE ON pastes TO pasteflow_api', 'too much: pasteflow_api: DELETE ON pastes'],
    ['REVOKE SELECT ON assets FROM pasteflow_api', 'missing: pasteflow_api: SELECT ON assets'],
    ['GRANT UPDATE (title) ON pastes TO pasteflow_api', 'too much: pasteflow_api: UPDATE (title) ON pastes'],
    [
      'REVOKE UPDATE (deletion_requested_at) ON pastes FROM pasteflow_api',
      'missing: pasteflow_api: UPDATE (deletion_requested_at) ON pastes',
    ],
    ['GRANT SELECT ON api_tokens TO PUBLIC', 'too much: PUBLIC: SELECT ON api_tokens'],
    [
      'GRANT EXECUTE ON FUNCTION drop_old_transitions TO PUBLIC',
      'too much: PUBLIC: EXECUTE ON drop_old_transitions',
    ],
    [
      'GRANT INSERT ON state_transitions_default TO pasteflow_worker',
      'too much: pasteflow_worker: INSERT ON state_transitions_default',
    ],
    [
      'REVOKE EXECUTE ON FUNCTION drop_old_transitions FROM pasteflow_janitor',
      'missing: pasteflow_janitor: EXECUTE ON drop_old_transitions',
    ],
    [
      'GRANT SELECT ON users TO pasteflow_api WITH GRANT OPTION',
      'missing: pasteflow_api: SELECT ON users,too much: pasteflow_api: SELECT WITH GRANT OPTION ON users',
    ],
  ])('finds %s, and the next migration repairs it', async (change, gaps) => {
    expect(await findRightsGaps(current.db)).toEqual([]);
    await sql.raw(change).execute(current.db);
    expect((await findRightsGaps(current.db)).join(',')).toBe(gaps);
    await migrate(current.db);
    expect(await findRightsGaps(current.db)).toEqual([]);
  });

  it.each([
    [
      'GRANT pasteflow_owner TO pasteflow_api',
      'REVOKE pasteflow_owner FROM pasteflow_api',
      'is a member of the owner',
    ],
    ['ALTER ROLE pasteflow_api SUPERUSER', 'ALTER ROLE pasteflow_api NOSUPERUSER', 'is a superuser'],
    ['ALTER ROLE pasteflow_api CREATEROLE', 'ALTER ROLE pasteflow_api NOCREATEROLE', 'may create roles'],
    [
      'GRANT CREATE ON SCHEMA public TO PUBLIC',
      'REVOKE CREATE ON SCHEMA public FROM PUBLIC',
      'may create tables',
    ],
  ])('finds %s', async (change, undo, gap) => {
    await sql.raw(change).execute(current.db);
    expect((await findRightsGaps(current.db)).join()).toContain(`too much: pasteflow_api ${gap}`);
    await sql.raw(undo).execute(current.db);
    expect(await findRightsGaps(current.db)).toEqual([]);
  });
});
