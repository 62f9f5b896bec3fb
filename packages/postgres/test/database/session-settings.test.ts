import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, startTestPostgres, type TestPostgres } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import { Client } from 'pg';
import {
  claimExecutions,
  ensureTransitionPartitions,
  findEnforcementGaps,
  findPaste,
  findSettingProblems,
  findUnsafeSettings,
  migrate,
  type Database,
  uploadSubject,
} from '../../src/index.ts';
import { sessionSettings } from '../../src/database/session-settings.ts';
import { serviceRoles, type ServiceRole } from '../../src/roles/role-names.ts';
import { newPaste, open } from '../support/database.ts';
import { urlOfRole } from '../support/roles.ts';

/** Each is allowed in Postgres, and breaks something. */
const hostile = {
  DateStyle: 'German',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Asia/Kolkata',
  extra_float_digits: '-15',
  standard_conforming_strings: 'off',
  bytea_output: 'escape',
  array_nulls: 'off',
  quote_all_identifiers: 'on',
  default_transaction_isolation: 'serializable',
  search_path: 'other',
};

let stack: TestPostgres;
let url: string;
let db: Database;
beforeAll(async () => {
  stack = await startTestPostgres();
  ({ url } = await createTestDatabase(stack, { migrated: false }));
  await alterDatabase(url, hostile);
  db = open(url);
  await migrate(db);
});
afterAll(async () => {
  await db?.destroy();
  await stack?.stop();
});

async function execute(on: string, ...statements: string[]): Promise<void> {
  const client = new Client({ connectionString: on });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

async function alterDatabase(on: string, settings: Readonly<Record<string, string>>): Promise<void> {
  const name = new URL(on).pathname.slice(1);
  await execute(
    on,
    ...Object.entries(settings).map(([key, value]) => `ALTER DATABASE ${name} SET ${key} = '${value}'`),
  );
}

async function withRole<T>(role: ServiceRole, use: (db: Database) => Promise<T>): Promise<T> {
  const connected = open(urlOfRole(url, role), 1);
  try {
    return await use(connected);
  } finally {
    await connected.destroy();
  }
}

describe('in a database with other settings', () => {
  it('pastes are created, found and claimed', async () => {
    const { shortCode } = await newPaste(db);
    expect(await findPaste(db, shortCode)).toMatchObject({
      short_code: shortCode,
      created_at: expect.any(Date),
    });
    const claims = await claimExecutions(db, uploadSubject, {
      keys: [shortCode],
      actor: 'worker',
      leaseSeconds: 6,
    });
    expect(claims.get(shortCode)?.kind).toBe('claimed');
  });

  it('the months of the audit trail begin at midnight UTC, also when a session with the settings of the database makes them', async () => {
    await execute(
      urlOfRole(url, 'pasteflow_janitor'),
      'RESET ALL',
      'SELECT public.ensure_transition_partitions(1)',
    );
    await execute(url, 'SELECT public.ensure_transition_partitions(3)');
    await ensureTransitionPartitions(db, 4);
    const { rows } = await sql<{ bounds: string }>`
      SELECT pg_get_expr(relpartbound, oid) AS bounds FROM pg_class
      WHERE oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'state_transitions'::regclass)`.execute(
      db,
    );
    const months = rows.map(({ bounds }) => bounds).filter((bounds) => bounds !== 'DEFAULT');
    expect(months.length).toBeGreaterThanOrEqual(5);
    const midnight = String.raw`'\d{4}-\d\d-01 00:00:00\+00'`;
    for (const bounds of months)
      expect(bounds).toMatch(new RegExp(`^FOR VALUES FROM \\(${midnight}\\) TO \\(${midnight}\\)$`));
  });

  it('the enforcement is found complete', async () => {
    expect(await findEnforcementGaps(db)).toEqual([]);
  });

  it.each(serviceRoles)(
    'the role %s needs no start parameters to have the settings, as behind a pooler',
    async (role) => {
      const client = new Client({ connectionString: urlOfRole(url, role) });
      await client.connect();
      const shown: string[] = [];
      for (const name of Object.keys(hostile)) {
        const { rows } = await client.query<{ value: string }>('SELECT current_setting($1) AS value', [name]);
        shown.push(rows[0]?.value ?? '');
      }
      await client.end();
      expect(shown).toEqual([
        'ISO, MDY',
        'postgres',
        'UTC',
        '1',
        'on',
        'hex',
        'on',
        'off',
        'read committed',
        'public',
      ]);
      expect(
        await withRole(role, (connected) => findSettingProblems(connected, ['fsync', 'full_page_writes'])),
      ).toEqual([]);
    },
  );

  it('a setting that does not reach the session is named, with the statement that repairs it', async () => {
    const connected = open(url, 1);
    await sql`SET DateStyle = 'SQL, DMY'`.execute(connected);
    expect(await findSettingProblems(connected, ['fsync', 'full_page_writes'])).toEqual([
      expect.stringMatching(
        /^Postgres has DateStyle=SQL, DMY in .* Execute: ALTER ROLE postgres IN DATABASE \w+ SET DateStyle = 'ISO, MDY'\. Then restart/,
      ),
    ]);
    await connected.destroy();
  });

  it.each([
    ['DateStyle', 'ISO, DMY'],
    ['TimeZone', 'Etc/UTC'],
    ['TimeZone', 'GMT'],
    ['extra_float_digits', '3'],
    ['search_path', '"$user", public'],
  ])('%s = %s is accepted, because the statements work with it', async (name, value) => {
    const connected = open(url, 1);
    await sql`SELECT set_config(${name}, ${value}, false)`.execute(connected);
    expect(await findSettingProblems(connected, ['fsync', 'full_page_writes'])).toEqual([]);
    await connected.destroy();
  });

  it.each([
    ['TimeZone', 'Europe/London'],
    ['extra_float_digits', '0'],
    ['search_path', 'other, pg_catalog'],
  ])('%s = %s is refused', async (name, value) => {
    const connected = open(url, 1);
    await sql`SELECT set_config(${name}, ${value}, false)`.execute(connected);
    expect(await findSettingProblems(connected, ['fsync', 'full_page_writes'])).toEqual([
      expect.stringContaining(`Postgres has ${name}=${value} in`),
    ]);
    await connected.destroy();
  });

  it('the printed statement repairs the sessions of a user who acts as another role and has the setting in this database', async () => {
    const database = new URL(url).pathname.slice(1);
    await execute(
      url,
      `CREATE ROLE "own role" LOGIN PASSWORD 'secret' IN ROLE pasteflow_api`,
      `ALTER ROLE "own role" SET role = pasteflow_api`,
      ...Object.entries({ ...sessionSettings, synchronous_commit: 'on' }).map(
        ([name, value]) => `ALTER ROLE "own role" SET ${name} = '${value}'`,
      ),
      `ALTER ROLE "own role" IN DATABASE ${database} SET synchronous_commit = off`,
    );
    const own = new URL(url);
    [own.username, own.password] = ['own role', 'secret'];
    const problems = async () => {
      const connected = open(own.href, 1);
      try {
        return await findSettingProblems(connected, ['fsync', 'full_page_writes']);
      } finally {
        await connected.destroy();
      }
    };
    const [problem = ''] = await problems();
    const [, repair = 'no statement'] = /Execute: (.*?)\. Then/.exec(problem) ?? [];
    await execute(url, repair);
    expect(await problems()).toEqual([]);
  });
});

describe('what Postgres has committed', () => {
  const commitOf = (role: ServiceRole): Promise<string | undefined> =>
    withRole(role, async (connected) => {
      const { rows } = await sql<{
        value: string;
      }>`SELECT current_setting('synchronous_commit') AS value`.execute(connected);
      return rows[0]?.value;
    });

  it.each(['off', 'local', 'remote_write', 'on'])(
    'is waited for by the services, although the server has synchronous_commit=%s',
    async (value) => {
      await execute(url, `ALTER SYSTEM SET synchronous_commit = ${value}`, 'SELECT pg_reload_conf()');
      await migrate(db);
      for (const role of serviceRoles) expect(await commitOf(role)).toBe('on');
      await execute(url, 'ALTER SYSTEM RESET synchronous_commit', 'SELECT pg_reload_conf()');
    },
  );

  it('is waited for on the standbys where the server demands that', async () => {
    await alterDatabase(url, { synchronous_commit: 'remote_apply' });
    const migrating = open(url, 2);
    await migrate(migrating);
    for (const role of serviceRoles) expect(await commitOf(role)).toBe('remote_apply');
    await execute(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} RESET synchronous_commit`);
    await migrating.destroy();
    for (const role of serviceRoles) await execute(url, `ALTER ROLE ${role} SET synchronous_commit = on`);
  });

  it('is waited for on the standbys by a role for which an administrator demands that', async () => {
    await execute(url, 'ALTER ROLE pasteflow_api SET synchronous_commit = remote_apply');
    await migrate(db);
    expect(await Promise.all(serviceRoles.map(commitOf))).toEqual(['remote_apply', 'on', 'on']);
    await execute(url, 'ALTER ROLE pasteflow_api SET synchronous_commit = on');
  });

  it('can be lost with each setting that is off, which is named unless it is allowed', async () => {
    const connected = open(url, 1);
    expect(await findUnsafeSettings(connected, [])).toEqual(['fsync=off', 'full_page_writes=off']); // as tests start Postgres
    await sql`SET synchronous_commit = off`.execute(connected);
    expect(await findUnsafeSettings(connected, ['fsync', 'full_page_writes'])).toEqual([
      'synchronous_commit=off',
    ]);
    for (const value of ['local', 'remote_write', 'on', 'remote_apply']) {
      await sql`SELECT set_config('synchronous_commit', ${value}, false)`.execute(connected);
      expect(await findUnsafeSettings(connected, ['fsync', 'full_page_writes'])).toEqual([]);
    }
    expect(await findSettingProblems(connected, ['full_page_writes'])).toEqual([
      expect.stringMatching(
        /^Postgres has fsync=off, .* Set fsync = on for the server\. If the storage .* ALLOW_POSTGRES_TO_LOSE_DATA=fsync\.$/,
      ),
    ]);
    await connected.destroy();
  });
});

it('tables in another schema are not left behind: the migration says how to make that schema public', async () => {
  const { url: other } = await createTestDatabase(stack);
  await execute(other, 'ALTER SCHEMA public RENAME TO "my own"', 'CREATE SCHEMA public');
  const connected = open(other, 2);
  const error = await migrate(connected).catch((refusal: unknown) => refusal as Error);
  expect((error as Error).message).toContain('the tables of Pasteflow are in the schema "my own"');
  const [repair = 'no statement'] = /ALTER SCHEMA .*;/.exec((error as Error).message) ?? [];
  await execute(other, repair);
  await migrate(connected);
  await newPaste(connected);
  await connected.destroy();
});

it('a database that is not UTF-8 is refused by the migration, with the reason and what to do', async () => {
  await execute(
    url,
    `CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
  );
  const latin = new URL(url);
  latin.pathname = '/latin';
  const connected = open(latin.href, 1);
  await expect(migrate(connected)).rejects.toThrow(
    "the database latin has the encoding LATIN1, and Pasteflow needs UTF8. An encoding can't be changed: execute " +
      "CREATE DATABASE pasteflow ENCODING 'UTF8' TEMPLATE template0, and let DATABASE_URL name that database",
  );
  const { rows } = await sql`SELECT FROM pg_tables WHERE schemaname = 'public'`.execute(connected);
  expect(rows).toEqual([]);
  await connected.destroy();
});
