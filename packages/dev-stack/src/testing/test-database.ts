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
