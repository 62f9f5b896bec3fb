import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type DatabaseError } from 'pg';
import { EMPTY_DATABASE, TEMPLATE_DATABASE } from './template-cluster.ts';
import type { TestStack } from './test-stack.ts';

export interface TestDatabase {
  url: string;
  /** Drops the database, and ends connections that are still open. */
  drop(): Promise<void>;
}

let databases = 0;

export interface TestDatabaseOptions {
  /** false: an empty database, for tests of the migrations. Default: true. */
  readonly migrated?: boolean;
}

/**
 * Creates a database for the caller alone: a clone of the migrated template. A clone takes about 30 ms of CPU
 * time.
 */
export async function createTestDatabase(
  stack: TestStack,
  { migrated = true }: TestDatabaseOptions = {},
): Promise<TestDatabase> {
  databases += 1;
  const name = `pasteflow_test_${process.pid}_${databases}`;
  const template = migrated ? TEMPLATE_DATABASE : EMPTY_DATABASE;
  await unlessConnected(() => execute(stack, `CREATE DATABASE ${name} TEMPLATE ${template}`));
  return {
    url: databaseUrl(stack, name),
    drop: () => execute(stack, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

function databaseUrl({ postgres }: TestStack, name: string): string {
  const url = new URL(postgres.url);
  url.pathname = `/${name}`;
  return url.href;
}

async function execute({ postgres }: TestStack, statement: string): Promise<void> {
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
