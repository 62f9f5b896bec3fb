import { readFileSync } from 'node:fs';
import { afterAll, beforeEach, expect, it } from '@jest/globals';
import { createTestDatabase, startTestPostgres, type TestPostgres } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import { findPrivilegedUser, findRightsGaps, migrate, type Database } from '../../src/index.ts';
import { sessionSettings } from '../../src/database/session-settings.ts';
import { allRoles, OWNER_ROLE, serviceRoles } from '../../src/roles/role-names.ts';
import { newPaste, open } from '../support/database.ts';
import { urlOfRole } from '../support/roles.ts';

/** The roles of a cluster belong to all of its databases: each test has another cluster. */
let stack: TestPostgres;
let url: string;
let admin: Database;
const opened: Database[] = [];

beforeEach(async () => {
  await close();
  stack = await startTestPostgres();
  url = (await createTestDatabase(stack, { migrated: false })).url;
  admin = connect(url);
});
afterAll(close);

async function close(): Promise<void> {
  await Promise.all(opened.splice(0).map((db) => db.destroy()));
  await stack?.stop();
}

function connect(to: string): Database {
  const db = open(to, 3);
  opened.push(db);
  return db;
}

/** As on a server that has never seen Pasteflow. */
async function withoutRoles(): Promise<void> {
  for (const role of allRoles) await sql.raw(`ALTER ROLE ${role} RENAME TO former_${role}`).execute(admin);
}

/** A user of this name, with a password. @returns the URL with which the user connects */
async function createUser(name: string, attributes = ''): Promise<string> {
  await sql.raw(`CREATE ROLE ${name} LOGIN PASSWORD 'secret' ${attributes}`).execute(admin);
  const own = new URL(url);
  own.username = name;
  own.password = 'secret';
  return own.href;
}

async function giveDatabaseTo(name: string): Promise<void> {
  await sql.raw(`ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO ${name}`).execute(admin);
}

async function ownersOfTables(): Promise<readonly string[]> {
  const { rows } = await sql<{ owner: string }>`
    SELECT DISTINCT tableowner AS owner FROM pg_tables WHERE schemaname = 'public'`.execute(admin);
  return rows.map(({ owner }) => owner);
}

async function notices(db: Database): Promise<readonly string[]> {
  const found: string[] = [];
  await migrate(db, { onNotice: (notice) => found.push(notice) });
  return found;
}

it('a user who may create roles but is no superuser, like the master user of RDS, makes roles and gives the tables away', async () => {
  await withoutRoles();
  const master = connect(await createUser('master', 'CREATEROLE'));
  await giveDatabaseTo('master');
  expect(await notices(master)).toEqual([]);
  expect(await ownersOfTables()).toEqual([OWNER_ROLE]);
  expect(await findRightsGaps(admin)).toEqual([]);
  await migrate(master, { passwords: { pasteflow_api: 'chosen' } });
  const api = new URL(url);
  [api.username, api.password] = ['pasteflow_api', 'chosen'];
  await newPaste(connect(api.href));
});

it('a user who may not create roles migrates, is told what is missing, and the services go on as that user', async () => {
  await withoutRoles();
  const plain = connect(await createUser('plain'));
  await giveDatabaseTo('plain');
  expect(await notices(plain)).toEqual([
    expect.stringMatching(
      /^The roles pasteflow_owner, .* do not exist, and plain may not create roles.*docs\/deploy\.md/,
    ),
  ]);
  expect(await ownersOfTables()).toEqual(['plain']);
  await newPaste(plain);
  expect(await findPrivilegedUser(plain)).toEqual({ database_user: 'plain', reason: 'owner of the tables' });
});

it('infra/roles.sql makes the roles, and the next migration of a plain owner grants their rights', async () => {
  await withoutRoles();
  const plain = connect(await createUser('plain'));
  await giveDatabaseTo('plain');
  await migrate(plain);
  await newPaste(plain);

  await sql.raw(readFileSync(new URL('../../../../infra/roles.sql', import.meta.url), 'utf8')).execute(admin);
  expect(await notices(plain)).toEqual([]);
  expect(await findRightsGaps(admin)).toEqual([]);
  const { rows: configs } = await sql<{ config: readonly string[] }>`
    SELECT rolconfig AS config FROM pg_roles WHERE rolname IN (${sql.join([...serviceRoles])})`.execute(
    admin,
  );
  expect(configs).toHaveLength(3);
  const wanted = Object.entries({ ...sessionSettings, synchronous_commit: 'on' });
  for (const { config } of configs)
    expect(config).toEqual(expect.arrayContaining(wanted.map(([name, value]) => `${name}=${value}`)));
  const worker = new URL(url);
  [worker.username, worker.password] = ['pasteflow_worker', 'WORKER-PASSWORD'];
  const { rows } = await sql<{ count: string }>`SELECT count(*) FROM pastes`.execute(connect(worker.href));
  expect(rows).toEqual([{ count: '1' }]);
  await newPaste(plain);
});

it('a user who may not alter the roles is told which settings they lack, and how an administrator sets them', async () => {
  const plain = connect(await createUser('plain'));
  await giveDatabaseTo('plain');
  for (const role of serviceRoles) await sql.raw(`ALTER ROLE ${role} RESET ALL`).execute(admin);
  const [notice = ''] = await notices(plain);
  expect(notice).toMatch(/^The roles of the services lack settings, and plain may not alter the roles\./);
  const [repair = 'SELECT no_sql'] = /ALTER ROLE .*;/.exec(notice) ?? [];
  await sql.raw(repair).execute(admin);
  expect(await notices(plain)).toEqual([]);
});

it('a superuser who migrates a database of another user leaves that user able to go on', async () => {
  const old = connect(await createUser('old'));
  await giveDatabaseTo('old');
  await sql`CREATE TABLE of_another_program (id integer)`.execute(old);
  await migrate(old);
  await sql.raw(`REASSIGN OWNED BY ${OWNER_ROLE} TO old`).execute(admin);
  expect(await ownersOfTables()).toEqual(['old']);

  expect(await notices(admin)).toEqual([]);
  expect((await ownersOfTables()).toSorted()).toEqual(['old', OWNER_ROLE]);
  const { rows } =
    await sql`SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tableowner = 'old'`.execute(
      admin,
    );
  expect(rows).toEqual([{ tablename: 'of_another_program' }]);
  await newPaste(old);
  await migrate(old);
  expect(await findRightsGaps(admin)).toEqual([]);
});

it('the password of a role is changed by the next migration, and refused when it has other characters than ASCII', async () => {
  await migrate(admin, { passwords: { pasteflow_janitor: 'a new one' } });
  const janitor = new URL(url);
  [janitor.username, janitor.password] = ['pasteflow_janitor', 'a new one'];
  await sql`SELECT FROM pastes`.execute(connect(janitor.href));
  await expect(migrate(admin, { passwords: { pasteflow_janitor: 'Ü' } })).rejects.toThrow('printable ASCII');
});

it('finds that a connection is that of a superuser, and nothing for the role of a service', async () => {
  await migrate(admin);
  expect(await findPrivilegedUser(admin)).toEqual({ database_user: 'postgres', reason: 'superuser' });
  expect(await findPrivilegedUser(connect(urlOfRole(url, 'pasteflow_api')))).toBeNull();
});
