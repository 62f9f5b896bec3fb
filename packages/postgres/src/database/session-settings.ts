import { sql, type Kysely } from 'kysely';
import type { Schema } from '../schema/schema.ts';

/**
 * What the statements and the parsers of pg rely on, as `current_setting` shows it: a server, a database or a
 * role may be set otherwise. `default_transaction_read_only` is left alone: who sets it wants the writes to
 * stop.
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

/**
 * The settings as a start parameter. PgBouncer drops it; the roles of the services have the settings, too
 * (create-roles.ts).
 */
export const SESSION_OPTIONS = Object.entries(sessionSettings)
  .map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`)
  .join(' ');

/** Values that a server, a database or a role has besides, and that change nothing for the statements. */
const alsoSuitable: Readonly<Record<string, RegExp>> = {
  DateStyle: /^ISO, /,
  TimeZone: /^(Etc\/)?(UTC|GMT)$/,
  extra_float_digits: /^[1-3]$/,
};

/**
 * They belong to the server, and some storage makes them unnecessary. Without them, a crash of the machine
 * loses what is committed.
 */
export const durabilitySettings = ['fsync', 'full_page_writes'] as const;

export type DurabilitySetting = (typeof durabilitySettings)[number];

/** @returns the settings with which Postgres can lose what it has committed, for example `fsync=off` */
export async function findUnsafeSettings(
  db: Kysely<Schema>,
  allowed: readonly DurabilitySetting[],
): Promise<readonly string[]> {
  const { values } = await readSession(db);
  return unsafeAmong(values, allowed).map((name) => `${name}=off`);
}

/** @returns why a service must not work with this connection, in sentences; empty when it may */
export async function findSettingProblems(
  db: Kysely<Schema>,
  allowed: readonly DurabilitySetting[],
): Promise<readonly string[]> {
  const { values, schema, role } = await readSession(db);
  const alter = (name: string, value: string) =>
    `Execute: ALTER ROLE ${role} SET ${name} = '${value}'. Then restart the service, and let a pooler connect again.`;
  const different = Object.entries(sessionSettings).filter(([name, wanted]) =>
    name === 'search_path'
      ? schema !== wanted
      : values[name] !== wanted && alsoSuitable[name]?.test(values[name] ?? '') !== true,
  );
  return [
    ...unsafeAmong(values, allowed).map(
      (name) =>
        `Postgres has ${name}=off, and can lose pastes that were answered 201 when it or its machine fails. ` +
        (name === 'synchronous_commit'
          ? alter(name, 'on')
          : `Set ${name} = on for the server. If the storage makes that unnecessary, as that of ZFS (full_page_writes) ` +
            `and of some managed servers does, or if pastes may be lost, set ALLOW_POSTGRES_TO_LOSE_DATA=${name}.`),
    ),
    ...different.map(
      ([name, wanted]) =>
        `Postgres has ${name}=${values[name]} in the sessions of this service, and the statements need ${name}=${wanted}. ` +
        alter(name, wanted),
    ),
  ];
}

/**
 * `local` and `remote_write` are safe here: the commit waits for the server's own disk, and only a failover
 * to a standby can lose it.
 */
function unsafeAmong(values: Settings, allowed: readonly string[]): readonly string[] {
  return [...durabilitySettings, 'synchronous_commit'].filter(
    (name) => values[name] === 'off' && !allowed.includes(name),
  );
}

type Settings = Readonly<Record<string, string>>;

interface Session {
  readonly values: Settings;
  readonly schema: string | null;
  /**
   * As ALTER ROLE names the settings that come before all others: those of the user who logged in, in this
   * database.
   */
  readonly role: string;
}

async function readSession(db: Kysely<Schema>): Promise<Session> {
  const names = [...durabilitySettings, 'synchronous_commit', ...Object.keys(sessionSettings)];
  const { rows } = await sql<Session>`
    SELECT json_object_agg(name, current_setting(name)) AS values, current_schema() AS schema,
      format('%I IN DATABASE %I', session_user, current_database()) AS role
    FROM unnest(${names}::text[]) AS name`.execute(db);
  return rows[0] as Session;
}

/** What a service logs when the order of texts differs from the one in which indexes were made. */
export const COLLATION_CHANGED =
  'the collation of the database has changed; build its indexes again (docs/runbook.md, "The collation of the operating system has changed")';

interface ChangedCollation {
  readonly collation: string;
  /** The version when the database was made, or refreshed last. */
  readonly recorded: string;
  readonly actual: string;
}

/** null: it has not changed, or has no version. */
export async function findChangedCollation(
  db: Kysely<Schema>,
): Promise<(ChangedCollation & Record<string, unknown>) | null> {
  const { rows } = await sql<ChangedCollation & Record<string, unknown>>`
    SELECT datcollate AS collation, datcollversion AS recorded, pg_database_collation_actual_version(oid) AS actual
    FROM pg_database WHERE datname = current_database() AND datcollversion <> pg_database_collation_actual_version(oid)`.execute(
    db,
  );
  return rows[0] ?? null;
}
