import { heartbeatIntervalMs, messageVisibilitySeconds } from '@pasteflow/domain';
import { createDatabase, pingDatabase, readPayload, type DatabaseOptions } from '@pasteflow/postgres';
import { HealthServer, PollLoop, type Component, type ServiceContext } from '@pasteflow/runtime';
import { createObjectStore } from '@pasteflow/s3';
import {
  changeVisibility,
  ConsumerGroup,
  createQueue,
  createSqsClient,
  deadLetterQueueName,
  HandBack,
  queueDepth,
} from '@pasteflow/sqs';
import type { Config } from './config.ts';
import { DatabaseGate } from './database-gate.ts';
import { createUploadEvents } from './events.ts';
import { createPutContent } from './put-content.ts';
import { RunningUploads } from './running-uploads.ts';
import { UploadBatch } from './upload-batch.ts';

/** After a stop, running puts have this long to end by themselves; then they are dropped and handed back. Of 10 s in all. */
const STOP_GRACE_MS = 5000;

/** How long the first of a group of ended puts waits to be settled with others: most puts of a batch end within it. */
const SETTLE_LINGER_MS = 100;

/**
 * Twice the wait of a long poll. After an outage that swallowed requests the consumers come back when the last of these has run out, and
 * the uploads have to follow within 10 s of SQS's return.
 */
const RECEIVE_TIMEOUT_MS = 4000;

/** Claims and settlements take milliseconds; a lease must not run out while one statement hangs. */
const STATEMENT_TIMEOUT_MS = 3000;

/** Of any other request to SQS; as short as in the api and the janitor, for the same outage. */
const SQS_TIMEOUT_MS = 3000;

/** For tests that count. */
export interface Overrides extends Pick<DatabaseOptions, 'onStatement'> {
  readonly settleLingerMs?: number;
}

export function compose(
  { config, instance, logger, metrics, readiness }: ServiceContext<Config>,
  { onStatement, settleLingerMs = SETTLE_LINGER_MS }: Overrides = {},
): readonly Component[] {
  const { leaseSeconds, consumers, putTimeoutMs } = config.upload;
  const visibilitySeconds = messageVisibilitySeconds(leaseSeconds);
  const events = createUploadEvents(logger, metrics);

  const db = createDatabase({
    url: config.database.url,
    applicationName: instance,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    maxConnections: config.database.poolSize,
    onConnectionError: (error) => events.dependencyFailed('a connection to Postgres', error),
    ...(onStatement && { onStatement }),
  });
  const store = createObjectStore({
    region: config.aws.region,
    endpoint: config.aws.s3Endpoint,
    bucket: config.bucket,
    maxAttempts: 1,
    requestTimeoutMs: putTimeoutMs,
    maxSockets: consumers * 10,
  });
  const sqs = { region: config.aws.region, endpoint: config.aws.sqsEndpoint };
  const receiving = createSqsClient({
    ...sqs,
    maxSockets: consumers * 2,
    requestTimeoutMs: RECEIVE_TIMEOUT_MS,
    maxAttempts: 1, // the consumers back off by themselves, and a stop must not wait for a second try
  });
  const changing = createSqsClient({ ...sqs, requestTimeoutMs: SQS_TIMEOUT_MS });
  const queue = createQueue(changing, config.queues.uploads);

  const gate = new DatabaseGate(() => pingDatabase(db));
  const handBack = new HandBack(changing, queue, (error) =>
    events.dependencyFailed('handing a message back', error),
  );
  const running = new RunningUploads({
    db,
    leaseSeconds,
    visibilitySeconds,
    changeVisibility: (changes) => changeVisibility(changing, queue, changes),
    onLost: (executionId) => events.leaseLost(executionId),
  });
  const dropping = new AbortController();
  const batch = new UploadBatch({
    db,
    gate,
    worker: instance,
    leaseSeconds,
    retry: config.retry,
    running,
    handBack,
    putContent: createPutContent({ store, readPayload: (pasteId) => readPayload(db, pasteId), putTimeoutMs }),
    events,
    dropping: dropping.signal,
    settleLingerMs,
  });
  const intervalMs = heartbeatIntervalMs(leaseSeconds);
  const leases = new PollLoop({
    name: 'leases',
    intervalMs,
    run: () => running.renewLeases(),
    onError: (error) => {
      events.dependencyFailed('renewing leases', error);
      gate.close();
    },
    backoff: { firstMs: 250, capMs: 250, jitter: 0 },
  });
  const visibility = new PollLoop({
    name: 'message visibility',
    intervalMs,
    run: () => running.keepHidden(),
    onError: (error) => events.dependencyFailed('keeping messages hidden', error),
    backoff: { firstMs: 250, capMs: intervalMs, jitter: 0.2 },
  });
  const group = new ConsumerGroup({
    client: receiving,
    queue,
    deadLetterQueue: createQueue(changing, deadLetterQueueName(config.queues.uploads)),
    consumers,
    visibilitySeconds,
    handle: (deliveries) => batch.handle(deliveries),
    beforeReceive: () => gate.open(),
    onMalformed: (error, message) => events.malformedMessage(error, message.MessageId),
    onError: (error) => events.dependencyFailed('receiving messages', error),
  });

  readiness.addCheck('postgres', () => pingDatabase(db));
  readiness.addCheck('sqs', () => queueDepth(changing, queue), { required: false });
  readiness.addCheck('s3', (signal) => store.ping(signal), { required: false });

  return [
    new HealthServer(config.metrics, readiness, metrics),
    {
      name: 'connections',
      start: () => Promise.resolve(),
      stop: async () => {
        await db.destroy();
        store.close();
        receiving.destroy();
        changing.destroy();
      },
    },
    leases,
    visibility,
    { name: 'hand-back', start: () => Promise.resolve(), stop: () => handBack.stop() },
    {
      name: 'consumers',
      start: () => Promise.resolve(group.start()),
      stop: async () => {
        gate.stop();
        const grace = setTimeout(() => dropping.abort(), STOP_GRACE_MS);
        await group.stop();
        clearTimeout(grace);
      },
    },
  ];
}
