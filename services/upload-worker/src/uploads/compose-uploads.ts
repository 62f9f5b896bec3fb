import { SQS_BATCH_SIZE } from '@pasteflow/domain';
import { readPayload } from '@pasteflow/postgres';
import type { ServiceContext } from '@pasteflow/runtime';
import { createObjectStore } from '@pasteflow/s3';
import { decodeUpload, type SqsClient } from '@pasteflow/sqs';
import type { Config } from '../config.ts';
import { Mutex } from 'async-mutex';
import { createPipeline, type QueueConsumer } from '../executions/pipeline.ts';
import type { WorkerContext } from '../executions/worker-context.ts';
import { createUploadEvents } from './events.ts';
import { createPutContent } from './put-content.ts';
import { tracePuts } from './trace-puts.ts';
import { UploadBatch } from './upload-batch.ts';

/** How long the first ended put of a group waits for others. Most puts of a batch end within this time. */
const SETTLE_LINGER_MS = 100;

export interface UploadsOptions {
  readonly worker: WorkerContext;
  readonly sqs: SqsClient;
  readonly settleLingerMs?: number | undefined;
}

/** The consumers of the uploads queue, each with up to 10 uploads at a time, and their object store. */
export function composeUploads(
  { config, logger, metrics }: Pick<ServiceContext<Config>, 'config' | 'logger' | 'metrics'>,
  { worker, sqs, settleLingerMs = SETTLE_LINGER_MS }: UploadsOptions,
): QueueConsumer {
  const { consumers, putTimeoutMs } = config.upload;
  const events = createUploadEvents(logger, metrics);
  const store = createObjectStore({
    region: config.aws.region,
    endpoint: config.aws.s3Endpoint,
    bucket: config.bucket,
    maxAttempts: 1, // retries follow R3 instead
    requestTimeoutMs: putTimeoutMs,
    maxSockets: consumers * SQS_BATCH_SIZE,
    requests: config.aws.s3Requests,
  });
  const putContent = createPutContent({
    store: tracePuts(store),
    readPayload: (pasteId) => readPayload(worker.db, pasteId),
    putTimeoutMs,
  });
  const alone = new Mutex();
  const pipeline = createPipeline({
    worker,
    sqs,
    aws: { region: config.aws.region, endpoint: config.aws.sqsEndpoint },
    queueName: config.queues.uploads,
    consumers,
    batchSize: SQS_BATCH_SIZE,
    decode: decodeUpload,
    events,
    handler: (messages) => {
      const batch = new UploadBatch({
        worker,
        messages,
        retry: config.uploadRetry,
        putContent,
        store,
        alone,
        events,
        settleLingerMs,
      });
      return (deliveries) => batch.handle(deliveries);
    },
  });
  return { pipeline, store, components: [] };
}
