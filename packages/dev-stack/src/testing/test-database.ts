import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type DatabaseError } from 'pg';
import { EMPTY_DATABASE, TEMPLATE_DATABASE } from './template-cluster.ts';

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
 * One connection for each server, which creates and drops its databases: a connection takes 8 ms of CPU time,
 * the statement as much. The connection ends with the server, or with dropTestDatabases.
 */
const clients = new WeakMap<Stack['postgres'], Client>();

/** The last statement of each server. A client executes one statement at a time. */
const statements = new WeakMap<Stack['postgres'], Promise<unknown>>();

export interface TestDatabaseOptions {
  /** false: an empty database, for tests of the migrations. Default: true. */
  readonly migrated?: boolean;
  /** The URL of a database that was created here and has no connections: the new database is a copy of it. */
  readonly copyOf?: string;
}

/**
 * Creates a database for the caller alone: a clone of the migrated template. A clone and its first connection
 * take 30 ms of CPU time. Without FILE_COPY, Postgres also writes each page of the template to the WAL, and
 * both take 75 ms.
 */
export async function createTestDatabase(
  stack: Stack,
  { migrated = true, copyOf }: TestDatabaseOptions = {},
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

/** Drops the databases that createTestDatabase has created for this stack, and closes its connection. */
export async function dropTestDatabases(stack: Stack): Promise<void> {
  try {
    for (const name of databases.get(stack.postgres) ?? []) await drop(stack, name);
  } finally {
    const client = clients.get(stack.postgres);
    clients.delete(stack.postgres);
    await client?.end();
  }
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
  const previous = statements.get(postgres) ?? Promise.resolve();
  const executed = previous.then(async () => {
    const client = clients.get(postgres) ?? (await connect(postgres));
    await client.query(statement);
  });
  statements.set(
    postgres,
    executed.catch(() => {}), // the caller of this statement gets the error
  );
  await executed;
}

async function connect(postgres: Stack['postgres']): Promise<Client> {
  const client = new Client({ connectionString: postgres.url });
  // Also when a test stops or kills the server: the next statement then makes a new connection.
  const forget = (): void => {
    if (clients.get(postgres) === client) clients.delete(postgres);
  };
  client.on('error', forget).on('end', forget);
  await client.connect();
  clients.set(postgres, client);
  return client;
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
