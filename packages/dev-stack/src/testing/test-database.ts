import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client, type DatabaseError } from 'pg';
import { findBinaries } from '../postgres/binaries.ts';
import { createServiceRoles } from '../postgres/service-roles.ts';
import { startPostgres } from '../postgres/start-postgres.ts';
import { sourceCommand } from '../child-command.ts';
import { REPOSITORY } from '../stack-config.ts';
import { cachedFolder } from '../folder-lock.ts';

export interface TestDatabase {
  url: string;
  /** Drops the database, and ends connections that are still open. */
  drop(): Promise<void>;
}

/** A stack, as far as its databases need it. */
interface Stack {
  readonly postgres: { readonly url: string };
}

/** The names by the server of their stack. */
const databases = new WeakMap<Stack['postgres'], Set<string>>();

/**
 * Creates a database for the caller alone: a clone of the migrated template. A clone and its first connection
 * take 30 ms of CPU time. Without FILE_COPY, Postgres also writes each page of the template to the WAL, and
 * both take 75 ms.
 */
export async function createTestDatabase(
  stack: Stack,
  {
    migrated = true,
    copyOf,
  }: {
    /** false: an empty database, for tests of the migrations. Default: true. */
    readonly migrated?: boolean;
    /** The URL of a database that was created here and has no connections: the new database is a copy of it. */
    readonly copyOf?: string;
  } = {},
): Promise<TestDatabase> {
  const name = `pasteflow_test_${randomBytes(6).toString('hex')}`; // other files create theirs in the same server
  const original = copyOf === undefined ? undefined : new URL(copyOf).pathname.slice(1);
  const template = original ?? (migrated ? TEMPLATE_DATABASE : EMPTY_DATABASE);
  await unlessConnected(() =>
    execute(stack, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`),
  );
  const created = databases.get(stack.postgres) ?? new Set();
  databases.set(stack.postgres, created.add(name));
  return { url: databaseUrl(stack, name), drop: () => drop(stack, name) };
}

/** Drops the databases that createTestDatabase has created for this stack. */
export async function dropTestDatabases(stack: Stack): Promise<void> {
  for (const name of databases.get(stack.postgres) ?? []) await drop(stack, name);
}

async function drop(stack: Stack, name: string): Promise<void> {
  await execute(stack, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

function databaseUrl({ postgres }: Stack, name: string): string {
  const url = new URL(postgres.url);
  url.pathname = `/${name}`;
  return url.href;
}

async function execute({ postgres }: Stack, statement: string): Promise<void> {
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

// SQLSTATE object_in_use: a connection closed a moment ago is still on the server's list.
const OBJECT_IN_USE = '55006';

async function unlessConnected(clone: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    try {
      return await clone();
    } catch (error) {
      if ((error as DatabaseError).code !== OBJECT_IN_USE || performance.now() > deadline) throw error;
      await sleep(20);
    }
  }
}

/** The migrated database of every test cluster. Nothing but CREATE DATABASE uses it. */
const TEMPLATE_DATABASE = 'pasteflow_template';
/** An empty database, as initdb makes it. */
const EMPTY_DATABASE = 'template1';

const CACHE = { path: join(REPOSITORY, 'node_modules/.cache/template-clusters'), keptMs: 86_400_000 };
const MIGRATE_ENTRY = 'packages/postgres/src/migrate-main.ts';
/** The files that define the cluster. A change in one of them leads to a new template. */
const SCHEMA_SOURCES = [
  'packages/postgres/src/**/*.ts',
  'packages/domain/src/**/*.ts',
  'packages/dev-stack/src/postgres/*.ts',
  'packages/dev-stack/src/testing/test-database.ts',
];

/**
 * Copies a cluster with TEMPLATE_DATABASE into `dataDir`, ready for startPostgres. The first caller makes the
 * original: initdb and the migrations take about 3 s of CPU time, a copy 0.1 to 0.4 s.
 */
export async function copyTemplateCluster(dataDir: string, binariesFrom: string | undefined): Promise<void> {
  const template = await cachedFolder(CACHE, await fingerprint(binariesFrom), (making) =>
    makeTemplateCluster(making, binariesFrom),
  );
  mkdirSync(dataDir, { recursive: true });
  await run('cp', ['-a', join(template, 'cluster'), join(template, 'password'), dataDir]);
}

async function makeTemplateCluster(dataDir: string, binariesFrom: string | undefined): Promise<void> {
  const postgres = await startPostgres({ dataDir, fsync: false, binariesFrom });
  try {
    const url = await rehashPassword(postgres.url);
    await createServiceRoles(url);
    await migrateDatabase(postgres.url);
  } finally {
    await postgres.stop();
  }
}

/**
 * Stores the superuser's password with one iteration of its hash instead of 4096. Each connection repeats the
 * iterations, and takes 7 ms of CPU time instead of 10. The tests make thousands of connections.
 * @returns a URL whose connections store passwords in the same way. Postgres 15 can't, and gets the URL as it
 * is.
 */
async function rehashPassword(serverUrl: string): Promise<string> {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query("SELECT FROM pg_settings WHERE name = 'scram_iterations'");
    if (rowCount === 0) return serverUrl;
    await client.query('SET scram_iterations = 1');
    await client.query(`ALTER ROLE postgres PASSWORD '${new URL(serverUrl).password}'`);
  } finally {
    await client.end();
  }
  const url = new URL(serverUrl);
  url.searchParams.set('options', '-c scram_iterations=1');
  return url.href;
}

/** A hash of the files that define the schema and of the Postgres binary. */
async function fingerprint(binariesFrom: string | undefined): Promise<string> {
  const { postgres } = await findBinaries(binariesFrom);
  const { size, mtimeMs } = statSync(postgres);
  const hash = createHash('sha256').update(`${postgres} ${size} ${mtimeMs}`);
  for (const path of globSync(SCHEMA_SOURCES, { cwd: REPOSITORY }).sort())
    hash.update(path).update(readFileSync(join(REPOSITORY, path)));
  return hash.digest('hex').slice(0, 32);
}

async function migrateDatabase(serverUrl: string): Promise<void> {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`CREATE DATABASE ${TEMPLATE_DATABASE}`);
  await client.end();
  const url = new URL(serverUrl);
  url.pathname = `/${TEMPLATE_DATABASE}`;
  // A process of its own, because dev-stack imports nothing of the workspace.
  const [command, ...args] = sourceCommand(join(REPOSITORY, MIGRATE_ENTRY), [], 'KILL');
  await run(command, args, { DATABASE_URL: url.href });
}

async function run(command: string, args: readonly string[], env?: Record<string, string>): Promise<void> {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], ...(env && { env }) });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stderr}`);
}
