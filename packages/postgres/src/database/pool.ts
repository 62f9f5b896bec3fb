import { DependencyUnavailableError } from '@pasteflow/domain';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { Pool } from 'pg';
import { toTypedError } from './errors.ts';

export interface PoolOptions {
  readonly url: string;
  /** Shown by pg_stat_activity. */
  readonly applicationName: string;
  readonly maxConnections: number;
  /** For how long one statement may run, in ms; 30 s unless told, 0: as long as it takes. */
  readonly statementTimeoutMs?: number;
  /** Told of an idle connection's end: without a listener it would end the process. */
  readonly onConnectionError: (error: Error) => void;
}

/** Waits of at most 5 s for a connection: a request that has waited so long had better be answered 503. */
const CONNECT_TIMEOUT_MS = 5000;

export function createPool(options: PoolOptions): Pool {
  const { statementTimeoutMs = 30_000 } = options;
  const pool = new Pool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.maxConnections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: statementTimeoutMs,
    // Ours, for a server that is gone without a word: the kernel would wait for a quarter of an hour.
    ...(statementTimeoutMs > 0 && { query_timeout: statementTimeoutMs + 2000 }),
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
  });
  pool.on('error', () => {}); // without a listener it ends the process; what it says, the connection's own has said
  pool.on('connect', (client) =>
    client.on('error', (error: Error & { client?: unknown }) => {
      delete error.client; // pg-pool's addition: all of the client, some 5 kB in a log
      options.onConnectionError(error);
    }),
  );
  return pool;
}

/**
 * The same pool to kysely, but every error that leaves it is one of the domain's typed errors where there is one, and a connection that
 * Postgres has failed isn't used again: its last words arrive before the socket's end, and the next statement on it would fail too.
 */
export function withTypedErrors(pool: Pool): PostgresPool {
  return {
    connect: async () => {
      const client = await pool.connect().catch(rethrowTyped);
      let failed = false;
      const query = async (text: string, values: readonly unknown[]) => {
        try {
          return await client.query(text, [...values]);
        } catch (error) {
          const typed = toTypedError(error);
          failed ||= typed instanceof DependencyUnavailableError;
          throw typed;
        }
      };
      // kysely's type also has cursors, which need a cursor class in the dialect's config: there is none.
      return {
        query: query as unknown as PostgresPoolClient['query'],
        release: (destroy) => client.release(failed || destroy),
      };
    },
    end: () => pool.end(),
    options: pool.options,
  };
}

function rethrowTyped(error: unknown): never {
  throw toTypedError(error);
}
