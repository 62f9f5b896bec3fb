import { DependencyUnavailableError } from '@pasteflow/domain';
import type { LogEvent, PostgresPool, PostgresPoolClient } from 'kysely';
import { Pool, Client, type PoolClient, type QueryConfig, type QueryResult } from 'pg';
import { toTypedError } from './errors.ts';
import { isUnusablePreparation, nameOfPrepared } from './prepared.ts';
import { PLANNING } from './planner.ts';
import { SESSION_OPTIONS } from './session-settings.ts';

export interface DatabaseOptions {
  readonly url: string;
  /** Shown by pg_stat_activity. */
  readonly applicationName: string;
  readonly maxConnections: number;
  /** The timeout of a statement in ms (default: 30 s). 0: no timeout. */
  readonly statementTimeoutMs?: number;
  /**
   * How long a caller waits for a connection, in ms (default: 5 s: a request that has waited so long gets a
   * 503 instead of waiting longer).
   */
  readonly connectTimeoutMs?: number;
  /**
   * Whether statements with the mark `prepared` are prepared. False: for poolers that can't keep them.
   * Default: true.
   */
  readonly preparedStatements?: boolean;
  /**
   * Called when a connection fails while it is idle. Node ends the process when such an error has no
   * listener.
   */
  readonly onConnectionError: (error: Error) => void;
  /** Makes a span of each statement (`Tracing.onStatement`). */
  readonly traceStatement?: ((event: LogEvent) => void) | undefined;
  /** Called after each statement: tests count them. */
  readonly onStatement?: ((event: LogEvent) => void) | undefined;
}

const STATEMENT_TIMEOUT_MS = 30_000;

export function createPool(options: DatabaseOptions): Pool {
  const {
    statementTimeoutMs = STATEMENT_TIMEOUT_MS,
    connectTimeoutMs = 5000,
    preparedStatements = true,
  } = options;
  const pool = new Pool({
    connectionString: withOptions(
      options.url,
      [PRIVATE_LOG, SESSION_OPTIONS, ...(preparedStatements ? [PLANNING] : [])].join(' '),
    ),
    application_name: options.applicationName,
    max: options.maxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
  });
  pool.on('error', () => {}); // ends the process without a listener; the connection's own listener has reported the error
  pool.on('connect', (client) =>
    client.on('error', (error: Error & { client?: unknown }) => {
      delete error.client; // pg-pool adds the whole client, which takes some 5 kB in a log
      options.onConnectionError(error);
    }),
  );
  return pool;
}

/** A failed statement must not write the content of a paste into the log of Postgres. */
const PRIVATE_LOG = '-c log_parameter_max_length_on_error=0';

/**
 * Adds options to those of the URL, which pg prefers to options of its configuration. Not by URL, which
 * refuses some of pg's forms.
 */
function withOptions(connectionString: string, options: string): string {
  const { address, parameters } = splitUrl(connectionString);
  const given = parameters.get('options');
  parameters.set('options', given === null ? options : `${given} ${options}`);
  return `${address}?${parameters.toString()}`;
}

/**
 * The pool as kysely uses it. Errors are typed. A connection on which Postgres became unavailable is not
 * reused: its error arrives before the socket closes, and the next statement on the connection would fail as
 * well.
 */
export function withTypedErrors(
  cuttable: CuttablePool,
  {
    preparedStatements = true,
    statementTimeoutMs = STATEMENT_TIMEOUT_MS,
  }: Pick<DatabaseOptions, 'preparedStatements' | 'statementTimeoutMs'> = {},
): PostgresPool {
  const run = preparedStatements ? queryPrepared : queryUnprepared;
  const timeoutMs = statementTimeoutMs > 0 ? statementTimeoutMs + ANSWER_DELAY_MS : 0;
  const { pool } = cuttable;
  return {
    connect: async () => {
      const client = await cuttable.connect();
      let failed = false;
      const runTyped = async (text: string, values: readonly unknown[]) => {
        try {
          return await run({ client, timeoutMs }, text, [...values], () => (failed = true));
        } catch (error) {
          const typed = toTypedError(error);
          failed ||= typed instanceof DependencyUnavailableError;
          throw typed;
        }
      };
      // kysely's type also has cursors. They need a cursor class in the dialect's config, and there is none.
      return {
        query: runTyped as unknown as PostgresPoolClient['query'],
        release: (destroy) => cuttable.release(client, failed || destroy),
      };
    },
    end: () => pool.end(),
    options: pool.options,
  };
}

interface Connection {
  readonly client: PoolClient;
  /** How long a statement may wait for its answer. 0: for ever. */
  readonly timeoutMs: number;
}

type Run = (
  connection: Connection,
  text: string,
  values: unknown[],
  discard: () => void,
) => Promise<QueryResult>;

const queryUnprepared: Run = (connection, text, values) => query(connection, { text, values });

/**
 * Prepares a marked statement at its first execution on the connection. When the preparation can't be used
 * (any more), the statement is executed without one, and the connection is not reused. In a transaction that
 * has failed nothing can be repeated.
 */
const queryPrepared: Run = async (connection, text, values, discard) => {
  const name = nameOfPrepared(text);
  if (name === undefined) return await query(connection, { text, values });
  try {
    return await query(connection, { name, text, values });
  } catch (error) {
    if (!isUnusablePreparation(error)) throw error;
    discard();
    if (connection.client.getTransactionStatus() !== 'I') throw error;
    return await query(connection, { text, values });
  }
};

/**
 * Postgres ends a statement at its own timeout. After this time more, the server has disappeared without
 * closing its connections, and the kernel would wait 15 minutes for it.
 */
const ANSWER_DELAY_MS = 2000;

/**
 * pg's own promises and its `query_timeout` keep what a statement has sent and received until a collection of
 * the whole heap. With a callback and a timer of our own pg keeps nothing, and the pauses of collections take
 * a third.
 */
function query({ client, timeoutMs }: Connection, config: QueryConfig): Promise<QueryResult> {
  const { promise, resolve, reject } = Promise.withResolvers<QueryResult>();
  const timer =
    timeoutMs > 0 ? setTimeout(() => reject(new Error('Query read timeout')), timeoutMs) : undefined;
  client.query(config, (error: Error | null | undefined, result) => {
    clearTimeout(timer);
    if (error === null || error === undefined) resolve(result);
    else reject(error);
  });
  return promise;
}

/** A pool whose callers and statements can be cut off. */
export class CuttablePool {
  readonly pool: Pool;
  readonly #used = new Set<PoolClient>();
  /** Refuse the callers that wait for a connection. */
  readonly #waiting = new Set<() => void>();
  #isCut = false;

  constructor(pool: Pool) {
    this.pool = pool;
  }

  connect(): Promise<PoolClient> {
    return new Promise((resolve, reject) => {
      const refuse = () => reject(new DependencyUnavailableError('postgres'));
      if (this.#isCut) return refuse();
      this.#waiting.add(refuse);
      this.#connect().then(
        (client) => {
          if (this.#isCut) {
            client.release(true);
            return;
          }
          this.#waiting.delete(refuse);
          this.#used.add(client);
          resolve(client);
        },
        (error: unknown) => {
          this.#waiting.delete(refuse);
          // Whatever the cause is (the network, TLS, a password, a pooler): there is no connection now, and
          // there may be one later.
          reject(new DependencyUnavailableError('postgres', { cause: error }));
        },
      );
    });
  }

  /** Async, because pg throws when it reads the certificate of the URL. */
  async #connect(): Promise<PoolClient> {
    return await this.pool.connect();
  }

  release(client: PoolClient, destroy: boolean | undefined): void {
    this.#used.delete(client);
    client.release(destroy);
  }

  /** See cutStatements. */
  cut(): void {
    this.#isCut = true;
    for (const refuse of this.#waiting) refuse();
    // Closes the socket of a client under its statement. PoolClient's type leaves out that a client has an
    // end().
    for (const client of this.#used) (client as unknown as Client).end().catch(() => {});
  }
}

const EXAMPLE = 'set it to a URL like postgres://user:password@127.0.0.1:5432/pasteflow';

const SEVERAL_HOSTS =
  'names several hosts, and pg connects to one; set it to an address that always leads to the primary: ' +
  'that of a pooler, a proxy or a virtual IP';

const ENCODING = 'write % as %25, @ as %40, / as %2F, : as %3A, ? as %3F, # as %23 and a blank as %20';

/**
 * Why pg can't connect with this DATABASE_URL, without the value, which may hold a password; null: it can.
 * pg itself reads the URL here, which accepts forms that `URL` refuses.
 */
export function databaseUrlProblem(url: string): string | null {
  if (!/^postgres(ql)?:\/\//.test(url))
    return `is not a URL that starts with postgres:// or postgresql://; ${EXAMPLE}`;
  if (/[\s#]|%(?![0-9a-f]{2})/i.test(url))
    return `contains a blank, a # or a lone %; ${EXAMPLE}. In the name and the password, ${ENCODING}`;
  try {
    const { host } = new Client({ connectionString: url });
    return host.includes(',') ? SEVERAL_HOSTS : null;
  } catch (error) {
    return `can't be used (${(error as Error).message}); ${EXAMPLE}, with one host. In the name and the password, ${ENCODING}`;
  }
}

/**
 * As text: `URL` refuses forms that pg accepts, such as `postgres://user@/pasteflow?host=/run/postgresql`.
 */
function splitUrl(url: string): { readonly address: string; readonly parameters: URLSearchParams } {
  const end = url.includes('?') ? url.indexOf('?') : url.length;
  return { address: url.slice(0, end), parameters: new URLSearchParams(url.slice(end + 1)) };
}
