import { beforeAll, describe, expect, it } from '@jest/globals';
import { machines, statesOf, type Machine } from '@pasteflow/domain';
import { createTestDatabase } from '@pasteflow/dev-stack/testing';
import { findPaste, migrate, readJobTimeline } from '../../src/index.ts';
import { makeJobs, makePastes, makeUsers } from '../../src/testing/index.ts';
import { serviceRoles } from '../../src/roles/role-names.ts';
import { open, useOwnServer } from '../support/database.ts';
import { sqlStateOf, urlOfRole } from '../support/roles.ts';
import { insertReferenced, insertStatement } from '../support/state-rows.ts';

const current = useOwnServer({ fresh: 'file' });
let url = '';

/**
 * Migrated here: a clone of the template has the rights on its tables, but not those on the database itself.
 */
beforeAll(async () => {
  url = (await createTestDatabase(current.stack, { migrated: false })).url;
  const db = open(url, 2);
  await migrate(db);
  await insertReferenced(db);
  await db.destroy();
});

const INSUFFICIENT_PRIVILEGE = '42501';

const definitions = [
  'CREATE TABLE mine (id integer)',
  'CREATE TEMPORARY TABLE pastes (id integer)',
  'CREATE SCHEMA mine',
  `CREATE FUNCTION mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'`,
  `CREATE OR REPLACE FUNCTION guard_job() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`,
  'CREATE TRIGGER mine BEFORE UPDATE ON pastes FOR EACH ROW EXECUTE FUNCTION guard_job()',
  'CREATE INDEX mine ON pastes (title)',
  'CREATE RULE mine AS ON DELETE TO pastes DO INSTEAD NOTHING',
  'ALTER TABLE pastes ADD COLUMN mine integer',
  'ALTER TABLE pastes DROP CONSTRAINT pastes_status_states',
  'ALTER TABLE pastes OWNER TO CURRENT_USER',
  'ALTER FUNCTION record_pastes() SECURITY INVOKER',
  'DROP TABLE pastes CASCADE',
  'DROP FUNCTION guard_job() CASCADE',
  'DROP TRIGGER guard_job ON jobs',
  'TRUNCATE pastes CASCADE',
  'TRUNCATE state_transitions',
  'CREATE ROLE mine',
  'GRANT pasteflow_owner TO CURRENT_USER',
  'SET ROLE pasteflow_owner',
  'SET SESSION AUTHORIZATION pasteflow_owner',
  `COPY pastes TO PROGRAM 'cat'`,
];

const triggers = [
  ...['pastes', 'jobs', 'task_executions', 'state_transitions', 'state_transitions_default'].flatMap(
    (table) => [`ALTER TABLE ${table} DISABLE TRIGGER ALL`, `ALTER TABLE ${table} DISABLE TRIGGER USER`],
  ),
  'SET session_replication_role = replica',
];

/** The default partition has the month. */
const columnsOfTrail = '(at, machine, entity, "from", "to", actor)';
const trail = [
  `INSERT INTO state_transitions ${columnsOfTrail} VALUES ('2001-01-01', 'job', gen_random_uuid(), 'queued', 'processing', 'me')`,
  `INSERT INTO state_transitions_default ${columnsOfTrail} VALUES ('2001-01-01', 'job', gen_random_uuid(), 'queued', 'processing', 'me')`,
  `UPDATE state_transitions SET actor = 'me'`,
  'DELETE FROM state_transitions',
  'DELETE FROM state_transitions_default',
  'DROP TABLE state_transitions_default',
  'ALTER TABLE state_transitions DETACH PARTITION state_transitions_default',
  `SELECT setval('state_transitions_id_seq', 1)`,
];

const IMPORT = 'SET pasteflow.import = on';

const laterStates = machines.flatMap((machine) =>
  statesOf<Machine>(machine)
    .filter((state) => state !== machine.initial)
    .map((state) => insertStatement(machine, state)),
);

const identities = machines.flatMap(({ storedIn: { table, identityColumns } }) =>
  identityColumns.map((column) => `UPDATE ${table} SET ${column} = ${column}`),
);

describe.each(serviceRoles)('%s is refused', (role) => {
  it.each([...definitions, ...triggers, ...trail, ...laterStates, ...identities])('%s', async (statement) => {
    expect(await sqlStateOf(urlOfRole(url, role), IMPORT, statement)).toBe(INSUFFICIENT_PRIVILEGE);
  });
});

const states = (names: readonly string[]) =>
  machines
    .filter(({ name }) => names.includes(name))
    .map(({ storedIn: { table, column } }) => `UPDATE ${table} SET ${column} = ${column}`);

/** The janitor settles for crashed workers, and makes every transition. */
it.each([
  ['pasteflow_api', states(machines.map(({ name }) => name))],
  ['pasteflow_worker', states(['paste_deletion', 'paste_report'])],
] as const)('%s is refused the transitions of other services', async (role, statements) => {
  expect(statements.length).toBeGreaterThan(0);
  for (const statement of statements)
    expect([statement, await sqlStateOf(urlOfRole(url, role), statement)]).toEqual([
      statement,
      INSUFFICIENT_PRIVILEGE,
    ]);
});

it('the janitor cannot drop a partition that is younger than seven days, whatever retention it names', async () => {
  const janitor = urlOfRole(url, 'pasteflow_janitor');
  for (const seconds of ['0', '-1', '1', String(7 * 86_400 - 1), `'NaN'`, `'Infinity'`, 'NULL'])
    expect([seconds, await sqlStateOf(janitor, `SELECT drop_old_transitions(${seconds})`)]).toEqual([
      seconds,
      'P0001',
    ]);
  expect(await sqlStateOf(janitor, `SELECT drop_old_transitions(7 * 86400)`)).toBeNull();
  for (const role of ['pasteflow_api', 'pasteflow_worker'] as const)
    expect(await sqlStateOf(urlOfRole(url, role), 'SELECT drop_old_transitions(1e9)')).toBe(
      INSUFFICIENT_PRIVILEGE,
    );
});

it('a superuser can do what the roles are refused, so that each of these statements is one that Postgres understands', async () => {
  for (const statement of [...definitions, ...triggers, ...trail, ...laterStates, ...identities])
    expect([statement, await sqlStateOf(url, IMPORT, 'BEGIN', statement)]).toEqual([
      statement,
      expectedOfSuperuser(statement),
    ]);
});

/** The guards hold for a superuser too. */
function expectedOfSuperuser(statement: string): string | null {
  if (/^(UPDATE|DELETE FROM|TRUNCATE) state_transitions/.test(statement)) return 'PF002';
  return null;
}

it('a function that a service calls records its database user beside the actor that it claims, and holds no paste without reports', async () => {
  const db = open(url, 2);
  try {
    const [user] = await makeUsers(db, 1);
    const [job] = await makeJobs(db, 1, {
      userId: user!.id,
      status: 'queued',
      execution: { status: 'PENDING' },
    });
    const [paste] = await makePastes(db, 1, { status: 'PROCESSED' });
    const api = urlOfRole(url, 'pasteflow_api');
    const claimed = 'ops-oidc/alice#1';
    expect(await sqlStateOf(api, `SELECT cancel_job('${job!.id}', '${claimed}', 'why')`)).toBeNull();
    const { transitions } = await readJobTimeline(db, job!.id);
    expect(new Set(transitions.map(({ actor }) => actor))).toEqual(new Set([`pasteflow_api (${claimed})`]));
    for (const holdAfter of [0, -1])
      expect(
        await sqlStateOf(api, `SELECT report_paste('${paste!.id}', 'spam', NULL, NULL, 'a', ${holdAfter})`),
      ).toBe('P0001');
    expect(await findPaste(db, paste!.shortCode)).toMatchObject({ held_at: null });
  } finally {
    await db.destroy();
  }
});
