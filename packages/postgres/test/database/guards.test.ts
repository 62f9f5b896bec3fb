import { beforeEach, describe, expect, it } from '@jest/globals';
import { machines, statesOf, type Machine } from '@pasteflow/domain';
import { sql } from 'kysely';
import { Client } from 'pg';
import { findEnforcementGaps, FORBIDDEN_CHANGE_SQLSTATE, installStateMachines } from '../../src/index.ts';
import { newPaste, useOwnServer } from '../support/database.ts';
import { insertInState, insertReferenced, insertStatement, updateToState } from '../support/state-rows.ts';

const current = useOwnServer({ fresh: 'file' });

beforeEach(async () => {
  await insertReferenced(current.db);
});

/** Runs the statements on one connection. @returns the SQLSTATE of the first that fails; null: none failed */
async function run(...statements: string[]): Promise<string | null> {
  const client = new Client({ connectionString: current.url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
    return null;
  } catch (error) {
    return (error as { code: string }).code;
  } finally {
    await client.end();
  }
}

const REPLICA = 'SET session_replication_role = replica';
const IMPORT = 'SET pasteflow.import = on';

describe.each(machines)('an INSERT, from any client: $name', (machine) => {
  // The row of a paste that is deleted is PROCESSED as well, so that none of these is in initial states only.
  const isInitial = (state: string) => state === machine.initial && machine.name !== 'paste_deletion';

  it.each(statesOf<Machine>(machine))(
    'accepts %s only if it is the initial state, or in an import',
    async (state) => {
      const expected = isInitial(state) ? null : FORBIDDEN_CHANGE_SQLSTATE;
      expect(await run(insertStatement(machine, state))).toBe(expected);
      expect(await run(REPLICA, insertStatement(machine, state))).toBe(expected);
      expect(await run(IMPORT, insertStatement(machine, state))).toBeNull();
    },
  );
});

it('an INSERT of a paste that is claimed for deletion is refused', async () => {
  const insert = insertStatement(machines[0], 'IN_PROGRESS')
    .replace('(short_code', '(deletion_status, short_code')
    .replace('VALUES (', `VALUES ('DELETION_IN_PROGRESS', `);
  expect(await run(insert)).toBe(FORBIDDEN_CHANGE_SQLSTATE);
});

it('an import by a role that does not own the tables is refused', async () => {
  await sql`CREATE ROLE stranger`.execute(current.db);
  await sql`GRANT ALL ON ALL TABLES IN SCHEMA public TO stranger`.execute(current.db);
  const statement = insertStatement(machines[0], 'PROCESSED');
  expect(await run('SET ROLE stranger', IMPORT, statement)).toBe(FORBIDDEN_CHANGE_SQLSTATE);
  expect(await run(IMPORT, statement)).toBeNull();
  await sql`DROP OWNED BY stranger`.execute(current.db);
});

const columns = machines.flatMap(({ storedIn: { table, identityColumns } }) =>
  identityColumns.map((column) => ({ table, column })),
);

/** Another value that the CHECKs accept. */
const others: Record<string, string> = {
  id: 'gen_random_uuid()',
  user_id: 'gen_random_uuid()',
  subject_id: 'gen_random_uuid()',
  paste_id: 'gen_random_uuid()',
  short_code: `'moved'`,
  content_hash: `'sha256:' || repeat('1', 64)`,
  size_bytes: 'size_bytes + 1',
  burn: 'NOT burn',
  parent: `'another'`,
  job_type: `'another'`,
  code: `repeat('a', 22)`,
  message: `'another'`,
  places: 'places + 1',
  created_at: 'now()',
  expires_at: `now() + interval '1 day'`,
  endpoint_id: 'gen_random_uuid()',
  event_id: 'gen_random_uuid()',
  type: `'paste.read'`,
  about: `'another'`,
  occurrence: `'another'`,
  happened_at: `now() - interval '1 day'`,
  retry_of: 'gen_random_uuid()',
  kind: `CASE kind WHEN 'job' THEN 'upload' ELSE 'job' END`,
};

it.each(columns)('an UPDATE of $table.$column is refused, from any client', async ({ table, column }) => {
  for (const machine of machines) await insertInState(current.db, machine, machine.initial);
  const change = `UPDATE ${table} SET ${column} = ${others[column]} WHERE id = (SELECT id FROM ${table} LIMIT 1)`;
  expect(await run(change)).toBe(FORBIDDEN_CHANGE_SQLSTATE);
  expect(await run(REPLICA, IMPORT, change)).toBe(FORBIDDEN_CHANGE_SQLSTATE);
  expect(await run(`UPDATE ${table} SET ${column} = ${column}`)).toBeNull();
});

it.each(machines)('an UPDATE to no state at all is refused, from any client: $name', async (machine) => {
  const { id } = await insertInState(current.db, machine, machine.initial);
  const { table, column } = machine.storedIn;
  const change = `UPDATE ${table} SET ${column} = NULL WHERE id = '${id}'`;
  expect(await run(change)).toBe('PF001');
  expect(await run(REPLICA, IMPORT, change)).toBe('PF001');
});

it('an invalid transition is refused, and a valid one recorded, under session_replication_role = replica', async () => {
  const { id } = await newPaste(current.db);
  const [upload] = machines;
  expect(await run(REPLICA, updateToState(upload, id, 'PROCESSED'))).toBeNull();
  expect(await run(REPLICA, updateToState(upload, id, 'FAILED'))).toBe('PF001');
  const { rows } = await sql`SELECT "to" FROM state_transitions WHERE entity = ${id}`.execute(current.db);
  expect(rows).toEqual([{ to: 'PROCESSED' }]);
});

describe('the audit trail', () => {
  const tables = async (): Promise<string[]> => {
    const { rows } = await sql<{ name: string }>`
      SELECT relid::regclass::text AS name FROM pg_partition_tree('state_transitions')`.execute(current.db);
    return rows.map(({ name }) => name);
  };

  it('refuses UPDATE, DELETE, MERGE and TRUNCATE, by its name and by that of each partition', async () => {
    expect((await tables()).length).toBeGreaterThan(3);
    for (const table of await tables())
      for (const change of [
        `UPDATE ${table} SET actor = 'nobody'`,
        `DELETE FROM ${table}`,
        `MERGE INTO ${table} t USING (SELECT 1) s ON true WHEN MATCHED THEN DELETE`,
        `TRUNCATE ${table}`,
      ]) {
        expect([change, await run(change)]).toEqual([change, FORBIDDEN_CHANGE_SQLSTATE]);
        expect([change, await run(REPLICA, IMPORT, change)]).toEqual([change, FORBIDDEN_CHANGE_SQLSTATE]);
      }
  });

  it('refuses them in a new partition from its creation on, before the next migration', async () => {
    const before = new Set(await tables());
    await sql`SELECT ensure_transition_partitions(20)`.execute(current.db);
    const made = (await tables()).filter((table) => !before.has(table));
    expect(made.length).toBeGreaterThan(0);
    await sql`INSERT INTO state_transitions (at, machine, entity, "from", "to", actor)
      VALUES ('2001-01-01', 'job', gen_random_uuid(), 'queued', 'processing', 'me')`.execute(current.db);
    const { rows } = await sql<{ name: string }>`
      SELECT drop_old_transitions(7 * 86400) AS name`.execute(current.db);
    expect(rows).toEqual([{ name: 'state_transitions_default' }]); // and made anew, empty
    for (const table of [...made, 'state_transitions_default'])
      for (const change of [
        `UPDATE ${table} SET actor = 'nobody'`,
        `DELETE FROM ${table}`,
        `TRUNCATE ${table}`,
      ])
        expect([change, await run(REPLICA, IMPORT, change)]).toEqual([change, FORBIDDEN_CHANGE_SQLSTATE]);
    expect(await findEnforcementGaps(current.db)).toEqual([]);
  });
});

describe('findEnforcementGaps', () => {
  it.each([
    ['ALTER TABLE pastes DISABLE TRIGGER guard_paste_upload', 'trigger guard_paste_upload on pastes'],
    ['ALTER TABLE pastes ENABLE TRIGGER record_pastes', 'trigger record_pastes on pastes'],
    ['ALTER TABLE jobs ENABLE REPLICA TRIGGER guard_job_insert', 'trigger guard_job_insert on jobs'],
    ['DROP TRIGGER guard_jobs_identity ON jobs', 'trigger guard_jobs_identity on jobs'],
    ['ALTER TABLE jobs DROP CONSTRAINT jobs_status_states', 'constraint jobs_status_states on jobs'],
    [
      'ALTER TABLE state_transitions_default DISABLE TRIGGER guard_state_transitions',
      'trigger guard_state_transitions on state_transitions_default',
    ],
    ['ALTER FUNCTION record_jobs() SECURITY INVOKER', 'trigger record_jobs on jobs'],
    [
      'CREATE OR REPLACE FUNCTION guard_job() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$',
      'trigger guard_job on jobs',
    ],
    ['DROP FUNCTION drop_old_transitions', 'function drop_old_transitions'],
  ])('finds %s, and the next migration repairs it', async (change, gap) => {
    expect(await findEnforcementGaps(current.db)).toEqual([]);
    expect(await run(change)).toBeNull();
    expect(await findEnforcementGaps(current.db)).toEqual([gap]);
    await installStateMachines(current.db);
    expect(await findEnforcementGaps(current.db)).toEqual([]);
  });

  it('finds what pg_restore --disable-triggers leaves behind', async () => {
    expect(
      await run('ALTER TABLE pastes DISABLE TRIGGER ALL', 'ALTER TABLE pastes ENABLE TRIGGER ALL'),
    ).toBeNull();
    expect((await findEnforcementGaps(current.db)).length).toBeGreaterThan(0);
    await installStateMachines(current.db);
    expect(await findEnforcementGaps(current.db)).toEqual([]);
  });
});
