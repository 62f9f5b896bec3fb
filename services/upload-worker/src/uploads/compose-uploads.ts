import { SpanKind } from '@opentelemetry/api';
import { SQS_BATCH_SIZE } from '@pasteflow/domain';
import { listPausedKinds, readPayload, UPLOADS } from '@pasteflow/postgres';
import { withSpan } from '@pasteflow/runtime';
import { createObjectStore, DIRECT_REFUSED, type ObjectStore } from '@pasteflow/s3';
import { decodeUpload } from '@pasteflow/sqs';
import { createPipeline, type QueueConsumer } from '../executions/pipeline.ts';
import type { WorkerContext } from '../executions/worker-context.ts';
import { createUploadEvents } from '../events.ts';
import { createPutContent } from './put-content.ts';
import { StorageAccess } from './storage-access.ts';
import { UploadRunner } from './upload-runner.ts';

/**
 * How long the first ended put of a group waits for others while further puts are under way. It delays each
 * upload, and so costs throughput: with puts of 40 ms and 40 places, 20 ms cost a quarter of it, and 100 ms
 * would cost two thirds.
 */
const SETTLE_LINGER_MS = 20;

/**
 * They let a consumer receive while its last batch is put, and a few puts that hang, each for up to
 * S3_PUT_TIMEOUT_MS, hold up no consumer. A process with one consumer has none, and handles batch after
 * batch: there, suspects run apart from all other uploads.
 */
const SPARE_PLACES = SQS_BATCH_SIZE;

/** The consumers of the uploads queue, with places for up to 10 uploads each, and their object store. */
export function composeUploads(worker: WorkerContext, settleLingerMs = SETTLE_LINGER_MS): QueueConsumer {
  const { config, logger, metrics } = worker;
  const { consumers, putTimeoutMs, compression } = config.upload;
  const sparePlaces = consumers > 1 ? SPARE_PLACES : 0;
  const events = createUploadEvents(logger, metrics);
  const store = createObjectStore({
    region: config.aws.region,
    endpoint: config.aws.s3Endpoint,
    bucket: config.bucket,
    maxAttempts: 1, // each put is an attempt, and the next attempt waits in the queue
    requestTimeoutMs: putTimeoutMs,
    maxSockets: consumers * SQS_BATCH_SIZE + sparePlaces,
    requests: config.aws.requests,
    onDirectRefused: (error) => logger.warn(DIRECT_REFUSED, { error }),
  });
  const access = new StorageAccess(store);
  const putContent = createPutContent({
    store: tracePuts(store),
    access,
    readPayload: (pasteId) => readPayload(worker.db, pasteId),
    putTimeoutMs,
    compresses: compression === 'gzip',
  });
  const pipeline = createPipeline(worker, {
    queueName: config.queues.uploads,
    consumers,
    batchSize: SQS_BATCH_SIZE,
    decode: decodeUpload,
    events,
    mayReceive: async () =>
      !(await listPausedKinds(worker.db)).includes(UPLOADS) && (await access.isGranted()),
    handler: ({ messages, acknowledger, pauses }) =>
      new UploadRunner({
        worker,
        messages,
        acknowledger,
        pauses,
        retry: config.uploadRetry,
        putContent,
        store,
        events,
        sparePlaces,
        settleLingerMs,
      }),
  });
  return { pipeline, store, components: [] };
}

/** Each PutObject becomes a span. */
function tracePuts(store: ObjectStore): Pick<ObjectStore, 'put' | 'urlOf'> {
  return {
    put: (key, content, options) =>
      withSpan(
        'put object',
        {
          kind: SpanKind.CLIENT,
          attributes: { 'aws.s3.key': key, 'pasteflow.size_bytes': content.length },
        },
        () => store.put(key, content, options),
      ),
    urlOf: (key) => store.urlOf(key),
  };
}
