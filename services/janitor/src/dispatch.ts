import { SQS_BATCH_SIZE } from '@pasteflow/domain';
import { stampDispatched, type Database, type DueUpload } from '@pasteflow/postgres';
import { sendUploads, type createSqsClient, type Queue } from '@pasteflow/sqs';

export type SqsClient = ReturnType<typeof createSqsClient>;

export interface UploadQueue {
  readonly db: Database;
  readonly sqs: SqsClient;
  readonly uploads: Queue;
}

/** Requests to SQS at once: after an outage thousands of messages have to leave within seconds, at some 10 ms a request. */
const LANES = 4;

/**
 * Sends messages for uploads that are due, 10 a request, and stamps what SQS has taken. Killed between the two it leaves messages that will
 * be sent again, which does no harm.
 * @returns how many SQS has taken
 * @throws DependencyUnavailableError after at most one failed request a lane
 */
export async function dispatchUploads(
  { db, sqs, uploads: queue }: UploadQueue,
  due: readonly DueUpload[],
  signal: AbortSignal,
): Promise<number> {
  let next = 0;
  let taken = 0;
  const runLane = async (): Promise<void> => {
    while (next < due.length && !signal.aborted) {
      const batch = due.slice(next, (next += SQS_BATCH_SIZE));
      const sent = await sendUploads(
        sqs,
        queue,
        batch.map((upload) => ({ ...upload, context: {} })),
      );
      await stampDispatched(db, sent);
      taken += sent.length;
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: LANES }, runLane));
  const failed = lanes.find((lane) => lane.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return taken;
}
