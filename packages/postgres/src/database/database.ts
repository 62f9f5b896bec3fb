import { Kysely, PostgresDialect, sql, type LogEvent, type QueryResult } from 'kysely';
import { CuttablePool, createPool, withTypedErrors, type DatabaseOptions } from './pool.ts';
import type { Schema } from '../schema/schema.ts';

export type Database = Kysely<Schema>;

/** A pool of connections behind kysely. Its errors are typed (errors.ts). Close it with `destroy()`. */
export function createDatabase(options: DatabaseOptions): Database {
  const pool = new CuttablePool(createPool(options));
  const dialect = new PostgresDialect({ pool: withTypedErrors(pool, options) });
  const db = new Kysely<Schema>({ dialect, ...logOf(options) });
  pools.set(db, pool);
  return db;
}

/** Without a listener, kysely measures nothing. */
function logOf({ traceStatement, onStatement }: DatabaseOptions): { log?: (event: LogEvent) => void } {
  if (traceStatement === undefined && onStatement === undefined) return {};
  return {
    log: (event) => {
      traceStatement?.(event);
      onStatement?.(event);
    },
  };
}

const pools = new WeakMap<Database, CuttablePool>();

/**
 * Ends the statements that run now with a DependencyUnavailableError, by closing their connections, and
 * refuses further ones: a process that stops does not wait for a Postgres that hangs. Postgres may still
 * complete a statement. `destroy()` is called as usual.
 */
export function cutStatements(db: Database): void {
  poolOf(db).cut();
}

function poolOf(db: Database): CuttablePool {
  const pool = pools.get(db);
  if (pool === undefined) throw new TypeError('this needs a database that createDatabase() made');
  return pool;
}

/** The connections of a pool now, and how many callers wait for one. */
export function poolUse(db: Database): { idle: number; used: number; waiting: number; max: number } {
  const { totalCount, idleCount, waitingCount, options } = poolOf(db).pool;
  return { idle: idleCount, used: totalCount - idleCount, waiting: waitingCount, max: options.max };
}

/** @throws DependencyUnavailableError when Postgres doesn't answer. */
export async function pingDatabase(db: Database): Promise<void> {
  await sql`SELECT 1`.execute(db);
}

/** How many rows an INSERT, UPDATE or DELETE changed. */
export function affectedRows({ numAffectedRows }: QueryResult<unknown>): number {
  return Number(numAffectedRows ?? 0);
}
