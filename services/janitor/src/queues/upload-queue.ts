import { uploadAttemptEvents } from '@pasteflow/service-kit';
import type { RetryPolicy } from '@pasteflow/domain';
import { uploadSubject, type Database } from '@pasteflow/postgres';
import { messageSpans, type Logger, type Metrics } from '@pasteflow/runtime';
import {
  createQueue,
  deadLetterQueueName,
  decodeUpload,
  queueDepth,
  sendTraced,
  sendUploads,
  type OutgoingUpload,
  type SqsClient,
} from '@pasteflow/sqs';
import { RepeatedLosses } from './repeated-losses.ts';
import { createWorkQueue, type WorkQueue } from './work-queue.ts';

export interface QueueOptions {
  readonly db: Database;
  readonly sqs: SqsClient;
  readonly queueName: string;
  readonly policy: RetryPolicy;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Messages that wait to be received. In a deeper queue, an overdue message is most likely still there, behind others. */
const DEEP_QUEUE = 1000;

export function createUploadQueue({ db, sqs, queueName, policy, logger, metrics }: QueueOptions): WorkQueue {
  const queue = createQueue(sqs, queueName);
  const trace = messageSpans<OutgoingUpload>({ queueName, relation: 'child' });
  return createWorkQueue({
    db,
    policy,
    subject: uploadSubject,
    events: uploadAttemptEvents(logger, metrics),
    logger,
    repeatedLosses: new RepeatedLosses('upload', logger),
    nameOf: ({ shortCode }) => shortCode,
    queue,
    deadLetters: createQueue(sqs, deadLetterQueueName(queueName)),
    startsWhatItNames: true,
    // In a shorter queue, an upload is claimed within seconds unless its message is lost.
    countLost: async () => ((await queueDepth(sqs, queue)) >= DEEP_QUEUE ? null : Infinity),
    readKey: (body) => decodeUpload(body).shortCode,
    // The request's context isn't stored (ADR 16): a message of the relay starts a trace of its own.
    send: (batch) =>
      sendTraced(
        trace,
        batch.map((message) => ({ ...message, context: {} })),
        (messages) => sendUploads(sqs, queue, messages),
      ),
    // Without content: the worker reads it from its payload, which is rare enough.
    messageOf: (executionId, { shortCode }) => ({ executionId, shortCode, content: null }),
    settlementOf: (settlement) => settlement,
  });
}
