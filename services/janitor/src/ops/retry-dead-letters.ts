import {
  createQueue,
  deadLetterQueueName,
  decodeJob,
  decodeUpload,
  moveDeadLetters,
  type SqsClient,
} from '@pasteflow/sqs';
import type { QueueConfig } from '@pasteflow/settings';
import { formatTable } from '@pasteflow/command-line';

export interface RetriedQueue {
  /** Where the messages were. */
  readonly queue: string;
  readonly moved: number;
  /** Those that SQS didn't take: they are still there. */
  readonly refused: number;
  /** Those that no worker can read: they are still there. */
  readonly unreadable: readonly { readonly message_id: string; readonly reason: string }[];
}

/** Keeps a hostile message from filling the terminal. */
const MAX_REASON_CHARACTERS = 300;

/**
 * Gives dead letters another 100 receives, without spending an attempt on each, as the sweep `dead-letters` does. Twice is harmless, and so
 * is a message that stands for nothing any more: it is acknowledged without effect.
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
  return `${counts}\nNo worker can read these; the sweep dead-letters drops them:\n${formatTable(['QUEUE', 'MESSAGE', 'WHY'], staying)}`;
}

/** Not what the message says: it is somebody's content. */
function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON_CHARACTERS);
}
