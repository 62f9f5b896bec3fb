import { Kysely, PostgresDialect, sql, type LogEvent } from 'kysely';
import { createPool, withTypedErrors, type PoolOptions } from './pool.ts';
import type { Schema } from './schema/schema.ts';

export type Database = Kysely<Schema>;

export interface DatabaseOptions extends PoolOptions {
  /** Told of every statement, for counting them. */
  readonly onStatement?: (event: LogEvent) => void;
}

/** A pool of connections behind kysely. Errors that leave it are typed (errors.ts). End it with `destroy()`. */
export function createDatabase(options: DatabaseOptions): Database {
  const dialect = new PostgresDialect({ pool: withTypedErrors(createPool(options)) });
  return new Kysely<Schema>({ dialect, ...(options.onStatement && { log: options.onStatement }) });
}

/** @throws DependencyUnavailableError when Postgres doesn't answer. */
export async function pingDatabase(db: Database): Promise<void> {
  await sql`SELECT 1`.execute(db);
}
