import { type Kysely, sql } from 'kysely';
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { sessionSettings } from '../database/session-settings.ts';
import type { Schema } from '../schema/schema.ts';
import { type CurrentUser, readCurrentUser } from './current-user.ts';
import { allRoles, OWNER_ROLE, type ServiceRole, serviceRoles } from './role-names.ts';

/** The password of each role that is to have one. */
export type RolePasswords = Partial<Readonly<Record<ServiceRole, string>>>;

/** A role without a password here keeps the password that it has. */
export function readRolePasswords(env: Readonly<Record<string, string | undefined>>): RolePasswords {
  return {
    ...(env.PASTEFLOW_API_PASSWORD && { pasteflow_api: env.PASTEFLOW_API_PASSWORD }),
    ...(env.PASTEFLOW_WORKER_PASSWORD && { pasteflow_worker: env.PASTEFLOW_WORKER_PASSWORD }),
    ...(env.PASTEFLOW_JANITOR_PASSWORD && { pasteflow_janitor: env.PASTEFLOW_JANITOR_PASSWORD }),
  };
}

/**
 * Creates the roles that are missing, as far as the user of the connection may, and gives them what they need
 * beside the rights on tables. Roles belong to the cluster: another database may have created them before.
 * @returns what an administrator still has to do, in sentences; empty when nothing is missing
 */
export async function createRoles(
  db: Kysely<Schema>,
  passwords: RolePasswords = {},
): Promise<readonly string[]> {
  return await db.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(hashtext('pasteflow.roles'))`.execute(tx);
    const user = await readCurrentUser(tx);
    const missing = await missingRoles(tx);
    if (missing.length > 0 && !user.mayCreateRoles) return [adviceOnRoles(user, missing)];
    for (const role of missing) await createRole(tx, role);
    await becomeMemberOfOwner(tx, user);
    if (user.ownsSchema) await openSchema(tx, user);
    if (user.ownsDatabase) await closeDatabase(tx, user);
    for (const [role, password] of Object.entries(passwords))
      await sql`ALTER ROLE ${sql.id(role)} LOGIN PASSWORD ${sql.lit(scramVerifier(password))}`.execute(tx);
    const unset: string[] = [];
    for (const role of serviceRoles) unset.push(...(await setSession(tx, role)));
    if (user.isSuperuser) for (const role of allRoles) await keepParametersOutOfLog(tx, role);
    return unset.length === 0 ? [] : [adviceOnSettings(user, unset)];
  });
}

async function missingRoles(db: Kysely<Schema>): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT name FROM unnest(${[...allRoles]}::text[]) AS name
    WHERE name NOT IN (SELECT rolname FROM pg_roles)`.execute(db);
  return rows.map(({ name }) => name);
}

/** A migration of another database of the cluster may create the role at the same time. */
async function createRole(db: Kysely<Schema>, role: string): Promise<void> {
  const login = role === OWNER_ROLE ? 'NOLOGIN' : 'LOGIN';
  await sql
    .raw(
      `DO $$ BEGIN CREATE ROLE ${role} ${login}; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`,
    )
    .execute(db);
}

/**
 * Only a member of a role can give tables to it. From Postgres 16 on, who creates a role is not yet its
 * member.
 */
async function becomeMemberOfOwner(db: Kysely<Schema>, user: CurrentUser): Promise<void> {
  if (user.isSuperuser || !user.mayCreateRoles) return;
  const { rows } = await sql<{ member: boolean }>`
    SELECT pg_has_role(current_user, ${OWNER_ROLE}, 'USAGE') AS member`.execute(db);
  if (rows[0]?.member !== true) await sql.raw(`GRANT ${OWNER_ROLE} TO CURRENT_USER`).execute(db);
}

/**
 * Up to Postgres 14, every role could create tables in `public`; a database that was upgraded still allows
 * it.
 */
async function openSchema(db: Kysely<Schema>, { schema }: CurrentUser): Promise<void> {
  await sql`REVOKE CREATE ON SCHEMA ${sql.id(schema)} FROM PUBLIC`.execute(db);
  await sql`GRANT USAGE, CREATE ON SCHEMA ${sql.id(schema)} TO ${sql.id(OWNER_ROLE)}`.execute(db);
  await sql`GRANT USAGE ON SCHEMA ${sql.id(schema)} TO ${sql.join(serviceRoles.map((role) => sql.id(role)))}`.execute(
    db,
  );
}

/** Without this, every role may create temporary tables. */
async function closeDatabase(db: Kysely<Schema>, { database }: CurrentUser): Promise<void> {
  await sql`REVOKE TEMPORARY ON DATABASE ${sql.id(database)} FROM PUBLIC`.execute(db);
}

/**
 * Settings of the role reach the sessions of poolers, too, which drop start parameters.
 * @returns the statements that the user may not execute
 */
async function setSession(db: Kysely<Schema>, role: ServiceRole): Promise<readonly string[]> {
  const missing = await missingSettings(db, role);
  if (missing.length === 0) return [];
  await sql
    .raw(`DO $$ BEGIN ${missing.join(' ')} EXCEPTION WHEN insufficient_privilege THEN NULL; END $$`)
    .execute(db);
  return await missingSettings(db, role);
}

/** As statements. `synchronous_commit` is only ever raised. */
async function missingSettings(db: Kysely<Schema>, role: ServiceRole): Promise<readonly string[]> {
  const { rows } = await sql<{ config: readonly string[]; serverWaitsForStandbys: boolean }>`
    SELECT coalesce(rolconfig, '{}') AS config,
      current_setting('synchronous_commit') = 'remote_apply' AS "serverWaitsForStandbys"
    FROM pg_roles WHERE rolname = ${role}`.execute(db);
  const [{ config, serverWaitsForStandbys } = { config: [], serverWaitsForStandbys: false }] = rows;
  const waitsForStandbys = serverWaitsForStandbys || config.includes('synchronous_commit=remote_apply');
  return Object.entries({ ...sessionSettings, synchronous_commit: waitsForStandbys ? 'remote_apply' : 'on' })
    .filter(([name, value]) => !config.includes(`${name}=${value}`))
    .map(([name, value]) => `ALTER ROLE ${role} SET ${name} = '${value}';`);
}

/**
 * The parameters of statements are the content of pastes. By default Postgres writes them into its log with
 * each slow statement. `terse` leaves out DETAIL, which has the whole row when a constraint refuses it.
 */
async function keepParametersOutOfLog(db: Kysely<Schema>, role: string): Promise<void> {
  const wanted = [
    'log_parameter_max_length=0',
    'log_parameter_max_length_on_error=0',
    'log_error_verbosity=terse',
  ];
  const { rows } = await sql<{ done: boolean }>`
    SELECT coalesce(rolconfig, '{}') @> ${wanted}::text[] AS done FROM pg_roles WHERE rolname = ${role}`.execute(
    db,
  );
  if (rows[0]?.done === true) return;
  for (const setting of wanted) await sql.raw(`ALTER ROLE ${role} SET ${setting}`).execute(db);
}

function adviceOnSettings({ name }: CurrentUser, statements: readonly string[]): string {
  return (
    `The roles of the services lack settings, and ${name} may not alter the roles. Without them no service starts behind a pooler. ` +
    `Let an administrator execute: ${statements.join(' ')}`
  );
}

function adviceOnRoles({ name }: CurrentUser, missing: readonly string[]): string {
  return (
    `The roles ${missing.join(', ')} do not exist, and ${name} may not create roles. ` +
    `The services can connect only as ${name}, who may change everything. ` +
    'Let an administrator execute infra/roles.sql (docs/deploy.md, "Database roles"), and migrate again.'
  );
}

/** What Postgres itself uses. */
const ITERATIONS = 4096;

/**
 * The SCRAM-SHA-256 verifier of a password (RFC 5803), as `pg_authid` stores it. ALTER ROLE with a verifier
 * keeps the password out of the log of Postgres, and of every statement that somebody can see.
 * @throws Error when the password has other characters than printable ASCII: SASLprep would change them
 */
function scramVerifier(password: string, salt: Buffer = randomBytes(16)): string {
  if (!/^[\x20-\x7e]+$/.test(password))
    throw new Error('The password of a role must consist of printable ASCII characters. Choose another one.');
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const hmac = (text: string): Buffer => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest();
  const [saltText, storedText, serverText] = [salt, storedKey, hmac('Server Key')].map((part) =>
    part.toString('base64'),
  );
  return `SCRAM-SHA-256$${ITERATIONS}:${saltText}$${storedText}:${serverText}`;
}
