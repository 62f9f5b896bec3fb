import { afterAll, afterEach, beforeAll } from '@jest/globals';
import {
  callSqs,
  createTestDatabase,
  FaultProxy,
  startSharedTestStack,
  urlOfService,
  type SharedTestStack,
  UNSAFE_POSTGRES,
  until,
} from '@pasteflow/dev-stack/testing';
import type { MessageContext } from '@pasteflow/domain';
import { defineJobType, type JobContext, type JobEnding, type JobType } from '@pasteflow/jobs';
import { createJob, readJobTimeline, stampDispatched, type Database } from '@pasteflow/postgres';
import { makeUsers } from '@pasteflow/postgres/testing';
import {
  Lifecycle,
  loadConfig,
  Metrics,
  Readiness,
  tracingOff,
  type LogFields,
  type Logger,
} from '@pasteflow/runtime';
import { createQueue, createSqsClient, sendJobs, type Queue, type SqsClient } from '@pasteflow/sqs';
import { z } from 'zod';
import { compose, type Overrides } from '../../src/compose.ts';
import { configSchema } from '../../src/config.ts';
import { openDatabase } from './database.ts';

process.env.AWS_ACCESS_KEY_ID = 'test';
process.env.AWS_SECRET_ACCESS_KEY = 'test';

export const JOBS = 'pasteflow-jobs';

interface StartOptions {
  readonly env?: Record<string, string>;
  readonly overrides?: Overrides;
}

/** A worker in this process. */
export interface BenchWorker {
  readonly log: RecordingLogger;
  readonly metrics: Metrics;
  stop(): Promise<void>;
}

/** The dependencies of a worker: a real Postgres, and S3 and SQS behind a proxy that records the requests. */
export interface Bench<S extends SharedTestStack = SharedTestStack> {
  readonly stack: S;
  readonly proxy: FaultProxy;
  readonly db: Database;
  readonly databaseUrl: string;
  readonly userId: string;
  /** A client for the test itself, without the proxy. */
  readonly sqs: SqsClient;
  readonly jobs: Queue;
  /**
   * Starts a worker, which is stopped after the test at the latest. Leases have 60 s by default, so that a
   * test sees no heartbeat.
   */
  start(types: readonly JobType[], options?: StartOptions): Promise<BenchWorker>;
  /**
   * Starts one worker for all tests of a file, because a start and a stop take more than 2 s. Tests can add
   * to `types` later.
   */
  startForAll(types: ReadonlyMap<string, JobType>, options?: StartOptions): Promise<BenchWorker>;
  /** Creates a queued job with its message, as the api does. */
  submit(jobType: string, parameters?: object, context?: MessageContext): Promise<string>;
  send(jobId: string, executionId: string, context?: MessageContext): Promise<void>;
  /** Waits until every message of the jobs queue is acknowledged: none is visible or hidden. */
  untilAcknowledged(): Promise<void>;
  job(jobId: string): Promise<JobRow>;
  untilEnded(jobId: string): Promise<JobRow>;
  /** `['job queued processing', …]`, oldest first. */
  transitions(jobId: string): Promise<string[]>;
  /** `[[attempt, status, error], …]`, oldest first. */
  attempts(jobId: string): Promise<(readonly [number, string, string | null])[]>;
}

type JobRow = Awaited<ReturnType<typeof readJob>>;

/** The bench of a test file. */
export function useBench(): Bench {
  return useBenchOn(startSharedTestStack);
}

/** The bench of a test file that restarts Postgres: with a stack of its own. */
export function useBenchOn<S extends SharedTestStack>(startStack: () => Promise<S>): Bench<S> {
  const bench = {} as { -readonly [Key in keyof Bench<S>]: Bench<S>[Key] };
  const workers = new Set<BenchWorker>();
  const forAll = new Set<BenchWorker>();
  beforeAll(async () => {
    bench.stack = await startStack();
    bench.proxy = await FaultProxy.start(bench.stack.aws.endpoint);
    bench.databaseUrl = (await createTestDatabase(bench.stack)).url;
    bench.db = openDatabase(bench.databaseUrl);
    bench.userId = (await makeUsers(bench.db, 1))[0]!.id;
    bench.sqs = createSqsClient({ region: 'us-east-1', endpoint: bench.stack.aws.endpoint });
    bench.jobs = createQueue(bench.sqs, JOBS);
  });
  afterEach(async () => {
    bench.proxy.clear();
    await Promise.all([...workers].map((worker) => worker.stop()));
    workers.clear();
    for (const name of ['pasteflow-uploads', JOBS, `${JOBS}-dead-letters`])
      await callSqs(bench.stack.aws.endpoint, 'PurgeQueue', name);
    bench.proxy.requests.length = 0;
  });
  afterAll(async () => {
    await Promise.all([...forAll].map((worker) => worker.stop()));
    bench.sqs?.destroy();
    await bench.db?.destroy();
    await bench.proxy?.stop();
    await bench.stack?.stop();
  });

  const start = async (
    types: ReadonlyMap<string, JobType>,
    { env = {}, overrides = {} }: StartOptions = {},
  ): Promise<BenchWorker> => {
    const config = loadConfig(configSchema, {
      ...UNSAFE_POSTGRES,
      DATABASE_URL: urlOfService(bench.databaseUrl, 'upload-worker'),
      AWS_ENDPOINT_URL: bench.proxy.url,
      METRICS_PORT: '0',
      EXECUTION_LEASE_SECONDS: '60',
      UPLOAD_WORKER_QUEUES: 'jobs',
      ...env,
    });
    const log = new RecordingLogger();
    const metrics = new Metrics('upload-worker', { process: false });
    const instance = `upload-worker/test-${workers.size + forAll.size}`;
    const context = { name: 'upload-worker', instance, config, logger: log, metrics, tracing: tracingOff };
    const lifecycle = new Lifecycle(
      compose({ ...context, readiness: new Readiness(), fail: () => {} }, { jobTypes: types, ...overrides }),
      log,
    );
    const worker = { log, metrics, stop: async () => void (await lifecycle.stop()) };
    await lifecycle.start();
    return worker;
  };
  bench.start = async (types, options) => {
    const worker = await start(new Map(types.map((type) => [type.name, type])), options);
    workers.add(worker);
    return worker;
  };
  bench.startForAll = async (types, options) => {
    const worker = await start(types, options);
    forAll.add(worker);
    return worker;
  };
  bench.send = async (jobId, executionId, context = {}) => {
    await sendJobs(bench.sqs, bench.jobs, [{ jobId, executionId, context }]);
    await stampDispatched(bench.db, [executionId]);
  };
  bench.submit = async (jobType, parameters = {}, context = {}) => {
    const { id, executionId } = await createJob(bench.db, { userId: bench.userId, jobType, parameters });
    await bench.send(id, executionId, context);
    return id;
  };
  bench.untilAcknowledged = async () => {
    await until(
      () => messagesIn(bench.stack.aws.endpoint, JOBS),
      (messages) => messages === 0,
    );
  };
  bench.job = (jobId) => readJob(bench.db, jobId);
  bench.untilEnded = (jobId) =>
    until(
      () => bench.job(jobId),
      ({ completed_at }) => completed_at !== null,
    );
  bench.transitions = async (jobId) =>
    (await readJobTimeline(bench.db, jobId)).transitions.map(
      ({ machine, from, to }) => `${machine} ${from} ${to}`,
    );
  bench.attempts = async (jobId) =>
    (await readJobTimeline(bench.db, jobId)).executions.map(
      ({ attempt, status, error }) => [attempt, status, error] as const,
    );
  return bench;
}

async function messagesIn(endpoint: string, name: string): Promise<number> {
  const { Attributes } = await callSqs<{ Attributes: Record<string, string> }>(
    endpoint,
    'GetQueueAttributes',
    name,
    { AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] },
  );
  return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0);
}

function readJob(db: Database, jobId: string) {
  return db.selectFrom('jobs').selectAll().where('id', '=', jobId).executeTakeFirstOrThrow();
}

/** A job type for a test. */
export function jobType(name: string, run: (context: JobContext<unknown>) => Promise<JobEnding>): JobType {
  return defineJobType({
    name,
    summary: 'Made for a test.',
    parameters: z.unknown(),
    example: {},
    readShortCodes: () => [],
    run,
  });
}

export const completed = { status: 'completed', result: {} } as const satisfies JobEnding;

/** Rejects when the signal is aborted, as work must. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = (): void => reject(new Error('aborted'));
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
  });
}

export { callSqs, until };

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

/** Records all lines, also those of child loggers. */
class RecordingLogger implements Logger {
  readonly lines: Line[];
  readonly #bindings: LogFields;
  error = this.#write('error');
  warn = this.#write('warn');
  info = this.#write('info');
  debug = this.#write('debug');

  constructor(lines: Line[] = [], bindings: LogFields = {}) {
    this.lines = lines;
    this.#bindings = bindings;
  }

  child(fields: LogFields): Logger {
    return new RecordingLogger(this.lines, { ...this.#bindings, ...fields });
  }

  #write(level: string) {
    return (message: string, fields: LogFields = {}): void =>
      void this.lines.push({ level, message, fields: { ...this.#bindings, ...fields } });
  }
}
