import { Writable } from 'node:stream';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import {
  createTestDatabase,
  startSharedTestStack,
  urlOfService,
  type SharedTestStack,
  UNSAFE_POSTGRES,
  writeHouseFile,
} from '@pasteflow/dev-stack/testing';
import { createDatabase, type Database } from '@pasteflow/postgres';
import { createLogger, Lifecycle, loadConfig, Metrics, Readiness, tracingOff } from '@pasteflow/runtime';
import { createObjectStore, type ObjectStore } from '@pasteflow/s3';
import { composeApi, type Overrides } from '../../src/compose.ts';
import { configSchema } from '../../src/config.ts';
import { watchAnswers } from './undocumented.ts';

/** The mark of a statement that is prepared, with which a text of SQL begins. */
const PREPARED = '/* prepared */';
const STAMP = 'SET dispatched_at = ';

interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

export interface RunningApi {
  readonly url: string;
  readonly port: number;
  readonly metricsUrl: string;
  readonly logs: readonly LogLine[];
  /** The SQL that the api has sent for requests. */
  readonly statements: readonly string[];
  /** The SQL of the counters of the limits, which is sent by time and not by request. */
  readonly counterStatements: readonly string[];
  /** The SQL of the dispatch stamps, which is sent after the messages. */
  readonly stampStatements: readonly string[];
  readonly readiness: Readiness;
  /** How its answers differ from the OpenAPI document. */
  readonly undocumented: string[];
  stop(): Promise<void>;
}

export interface ApiOptions extends Overrides {
  readonly env?: Readonly<Record<string, string>>;
  /** What house.json says. Default: there is none. */
  readonly house?: object;
  /** The files beside it, by their names. */
  readonly logos?: Readonly<Record<string, string | Buffer>>;
}

export interface ApiBed<S extends SharedTestStack = SharedTestStack> {
  readonly stack: S;
  /** As the superuser. */
  readonly databaseUrl: string;
  /** For reading and inserting rows without the api. */
  readonly db: Database;
  readonly store: ObjectStore;
  /** The api of the test file, with default settings. */
  readonly api: RunningApi;
  /** Starts another api on the same database, for one test. */
  start(options?: ApiOptions): Promise<RunningApi>;
}

/** A stack, a database and an api for the whole test file. */
export function useApi(options: ApiOptions = {}): ApiBed {
  return useApiOn(startSharedTestStack, options);
}

/** The same for tests that restart Postgres or look at all of it: with a stack of their own. */
export function useApiOn<S extends SharedTestStack>(
  startStack: () => Promise<S>,
  options: ApiOptions = {},
): ApiBed<S> {
  const bed = {} as { -readonly [Key in keyof ApiBed<S>]: ApiBed<S>[Key] };
  const started: RunningApi[] = [];
  beforeAll(async () => {
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' });
    bed.stack = await startStack();
    bed.databaseUrl = (await createTestDatabase(bed.stack)).url;
    bed.db = openDatabase(bed.databaseUrl);
    bed.store = createObjectStore({
      region: bed.stack.aws.region,
      endpoint: bed.stack.aws.endpoint,
      bucket: 'pasteflow',
      maxAttempts: 1,
      requestTimeoutMs: 5000,
    });
    bed.api = await startApi(bed, options);
  });
  bed.start = async (more = {}) => {
    const api = await startApi(bed, more);
    started.push(api);
    return api;
  };
  afterEach(async () => {
    const stopped = started.splice(0);
    await Promise.all(stopped.map((api) => api.stop()));
    expect([bed.api, ...stopped].flatMap((api) => api?.undocumented.splice(0))).toEqual([]);
  });
  afterAll(async () => {
    await bed.api?.stop();
    bed.store?.close();
    await bed.db?.destroy();
    await bed.stack?.stop();
    expect(bed.api?.undocumented).toEqual([]); // answers that ended after the last test
  });
  return bed;
}

async function startApi(
  { stack, databaseUrl }: Pick<ApiBed, 'stack' | 'databaseUrl'>,
  { env = {}, house, logos, ...overrides }: ApiOptions,
): Promise<RunningApi> {
  const logs: LogLine[] = [];
  const statements: string[] = [];
  const counterStatements: string[] = [];
  const stampStatements: string[] = [];
  const kindOf = (sql: string) => {
    if (sql.includes('INTO rate_limits')) return counterStatements;
    return sql.includes(STAMP) ? stampStatements : statements;
  };
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      for (const line of chunk.toString().trim().split('\n')) logs.push(JSON.parse(line) as LogLine);
      done();
    },
  });
  const logger = createLogger({ level: 'debug', format: 'json', service: 'api', stream });
  const houseFile = house && (await writeHouseFile(house, logos));
  const config = loadConfig(configSchema, {
    ...UNSAFE_POSTGRES,
    AWS_ENDPOINT_URL: stack.aws.endpoint,
    AWS_REGION: stack.aws.region,
    API_PORT: '0',
    METRICS_PORT: '0',
    WEBHOOK_KEY: 'the key of webhooks in these tests',
    ...(houseFile && { HOUSE: houseFile.path }),
    ...env,
    DATABASE_URL: urlOfService(env.DATABASE_URL ?? databaseUrl, 'api'),
  });
  await houseFile?.remove(); // it is read once
  const readiness = new Readiness();
  const composed = composeApi(
    {
      name: 'api',
      instance: 'api/test',
      config,
      logger,
      metrics: new Metrics('api', { process: false }),
      readiness,
      fail: () => {},
      tracing: tracingOff,
    },
    {
      stopNoticeMs: 1,
      onStatement: ({ query: { sql } }) => {
        if (/pg_roles|current_setting\(name\)/.test(sql)) return; // the checks at the start
        kindOf(sql).push(sql.replace(PREPARED, ''));
      },
      ...overrides,
    },
  );
  const lifecycle = new Lifecycle(composed.components, logger);
  await lifecycle.start().catch(async (error: unknown) => {
    await lifecycle.stop();
    throw error;
  });
  readiness.markStarted();
  const answers = watchAnswers(composed.server.port);
  return {
    url: `http://127.0.0.1:${composed.server.port}`,
    port: composed.server.port,
    metricsUrl: `http://127.0.0.1:${composed.health.port}`,
    logs,
    statements,
    counterStatements,
    stampStatements,
    readiness,
    undocumented: answers.undocumented,
    stop: async () => {
      readiness.markStopping();
      await lifecycle.stop();
      answers.stop();
    },
  };
}

function openDatabase(url: string): Database {
  return createDatabase({
    url,
    applicationName: 'test',
    maxConnections: 4,
    connectTimeoutMs: 60_000,
    onConnectionError: () => {},
  });
}
