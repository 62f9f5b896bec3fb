import { sql, type Kysely } from 'kysely';
import type { Schema } from '../schema/schema.ts';

/**
 * What the statements and the parsers of pg rely on, as `current_setting` shows it: a server, a database or a role may be set otherwise.
 * `default_transaction_read_only` is left alone: who sets it wants the writes to stop.
 */
export const sessionSettings: Readonly<Record<string, string>> = {
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  bytea_output: 'hex',
  array_nulls: 'on',
  quote_all_identifiers: 'off',
  default_transaction_isolation: 'read committed',
  search_path: 'public',
};

/** The settings as a start parameter. PgBouncer drops it; the roles of the services have the settings, too (create-roles.ts). */
export const SESSION_OPTIONS = Object.entries(sessionSettings)
  .map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`)
  .join(' ');

/** With one of these below `on`, Postgres answers a commit that a crash can lose. `full_page_writes` protects what is written before. */
export const durabilitySettings = ['fsync', 'full_page_writes', 'synchronous_commit'] as const;

export type DurabilitySetting = (typeof durabilitySettings)[number];

/** @returns the settings with which Postgres can lose what it has committed, for example `fsync=off` */
export async function findUnsafeSettings(
  db: Kysely<Schema>,
  allowed: readonly DurabilitySetting[],
): Promise<readonly string[]> {
  const { values } = await readSettings(db, durabilitySettings);
  return unsafeAmong(values, allowed).map((name) => `${name}=${values[name]}`);
}

/** @returns why a service must not work with this connection, in sentences; empty when it may */
export async function findSettingProblems(
  db: Kysely<Schema>,
  allowed: readonly DurabilitySetting[],
): Promise<readonly string[]> {
  const { user, values } = await readSettings(db, [...durabilitySettings, ...Object.keys(sessionSettings)]);
  const different = Object.entries(sessionSettings).filter(([name, wanted]) => values[name] !== wanted);
  return [
    ...unsafeAmong(values, allowed).map((name) => unsafeProblem(name, values[name], user)),
    ...different.map(
      ([name, wanted]) =>
        `Postgres has ${name}=${values[name]} for ${user}, and the statements need ${name}=${wanted}, which a pooler has dropped. ` +
        `Run npm run migrate as an administrator, or execute: ${alterRole(user, name, wanted)}. Then let the pooler connect again.`,
    ),
  ];
}

function unsafeAmong(values: Settings, allowed: readonly DurabilitySetting[]): readonly DurabilitySetting[] {
  return durabilitySettings.filter(
    (name) => !allowed.includes(name) && values[name] !== 'on' && values[name] !== 'remote_apply',
  );
}

function unsafeProblem(name: DurabilitySetting, value: string | undefined, user: string): string {
  const repair =
    name === 'synchronous_commit'
      ? `Run npm run migrate as an administrator, or execute: ${alterRole(user, name, 'on')}`
      : `Set ${name} = on for the server`;
  return (
    `Postgres has ${name}=${value}, and can lose pastes that were answered 201 when it or its machine fails. ` +
    `${repair}. If they may be lost, set ALLOW_POSTGRES_TO_LOSE_DATA=${name}.`
  );
}

const alterRole = (role: string, name: string, value: string): string =>
  `ALTER ROLE "${role}" SET ${name} = '${value}'`;

type Settings = Readonly<Record<string, string>>;

async function readSettings(
  db: Kysely<Schema>,
  names: readonly string[],
): Promise<{ readonly user: string; readonly values: Settings }> {
  const { rows } = await sql<{ user: string; values: Settings }>`
    SELECT current_user AS user, coalesce(json_object_agg(name, current_setting(name)), '{}') AS values
    FROM unnest(${names}::text[]) AS name`.execute(db);
  return rows[0] ?? { user: '', values: {} };
}
