import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { migrate, type Database } from '../../src/index.ts';
import { serviceRoles } from '../../src/roles/role-names.ts';
import { open, useOwnServer } from '../support/database.ts';
import { urlOfRole } from '../support/roles.ts';

const current = useOwnServer({ fresh: 'file' });

async function settingOf(db: Database, name: string): Promise<string> {
  const { rows } = await sql<{ value: string }>`SELECT current_setting(${name}) AS value`.execute(db);
  return rows[0]?.value ?? '';
}

it.each(serviceRoles)('%s writes no parameters and no rows into the log of Postgres', async (role) => {
  const db = open(urlOfRole(current.url, role), 1);
  expect(await settingOf(db, 'log_parameter_max_length')).toBe('0');
  expect(await settingOf(db, 'log_parameter_max_length_on_error')).toBe('0');
  expect(await settingOf(db, 'log_error_verbosity')).toBe('terse');
  await db.destroy();
});

it('the settings of a role come back with the next migration by a superuser', async () => {
  await sql`ALTER ROLE pasteflow_api RESET ALL`.execute(current.db);
  await migrate(current.db);
  const { rows } = await sql<{ rolconfig: readonly string[] }>`
    SELECT rolconfig FROM pg_roles WHERE rolname = 'pasteflow_api'`.execute(current.db);
  expect(rows[0]?.rolconfig.filter((setting) => setting.startsWith('log_'))).toEqual([
    'log_parameter_max_length=0',
    'log_parameter_max_length_on_error=0',
    'log_error_verbosity=terse',
  ]);
});

it('every connection keeps the parameters of a failed statement out of the log, whatever the database is set to', async () => {
  const name = new URL(current.url).pathname.slice(1);
  await sql.raw(`ALTER DATABASE ${name} SET log_parameter_max_length_on_error = 100`).execute(current.db);
  const db = open(current.url, 1);
  expect(await settingOf(db, 'log_parameter_max_length_on_error')).toBe('0');
  await db.destroy();
});
