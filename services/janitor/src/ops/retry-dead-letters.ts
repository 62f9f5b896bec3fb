import {
  createQueue,
  deadLetterQueueName,
  decodeJob,
  decodeUpload,
  moveDeadLetters,
  type SqsClient,
} from '@pasteflow/sqs';
import { type QueueConfig, formatTable } from '@pasteflow/service-kit';

export interface RetriedQueue {
  /** The dead-letter queue. */
  readonly queue: string;
  readonly moved: number;
  /** Messages that SQS did not accept. They are still in the dead-letter queue. */
  readonly refused: number;
  /** Messages that no worker can read. They are still in the dead-letter queue. */
  readonly unreadable: readonly { readonly message_id: string; readonly reason: string }[];
}

/** A hostile message must not fill the terminal. */
const MAX_REASON_CHARACTERS = 300;

/**
 * Redrives the dead letters: each gets another 100 receives. Unlike the sweep `dead-letters`, this spends no attempt. Running it twice is
 * harmless, and so is a message whose work has ended: a worker acknowledges it without effect.
 */
export async function retryDeadLetters(
  sqs: SqsClient,
  { uploads, jobs }: QueueConfig,
): Promise<readonly RetriedQueue[]> {
  const retried: RetriedQueue[] = [];
  for (const [name, read] of [
    [uploads, decodeUpload],
    [jobs, decodeJob],
  ] as const) {
    const unreadable: { message_id: string; reason: string }[] = [];
    const queue = deadLetterQueueName(name);
    const { moved, refused } = await moveDeadLetters(sqs, {
      from: createQueue(sqs, queue),
      to: createQueue(sqs, name),
      read,
      onUnreadable: (message_id, error) => unreadable.push({ message_id, reason: reasonOf(error) }),
    });
    retried.push({ queue, moved, refused, unreadable });
  }
  return retried;
}

export function retriedText(retried: readonly RetriedQueue[]): string {
  const counts = formatTable(
    ['QUEUE', '>MOVED', '>REFUSED', '>UNREADABLE'],
    retried.map(({ queue, moved, refused, unreadable }) => [
      queue,
      String(moved),
      String(refused),
      String(unreadable.length),
    ]),
  );
  const staying = retried.flatMap(({ queue, unreadable }) =>
    unreadable.map(({ message_id, reason }) => [queue, message_id, reason]),
  );
  if (staying.length === 0) return counts;
  return `${counts}\nNo worker can read these messages. The sweep dead-letters removes them:\n${formatTable(['QUEUE', 'MESSAGE', 'WHY'], staying)}`;
}

/** Not the body of the message: it may be a user's content. */
function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON_CHARACTERS);
}
