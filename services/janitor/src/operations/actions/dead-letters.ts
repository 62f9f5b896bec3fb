import {
  createQueue,
  deadLetterQueueName,
  decodeJob,
  decodeUpload,
  moveDeadLetters,
  queueCounts,
  type SqsClient,
} from '@pasteflow/sqs';
import { formatTable } from '@pasteflow/service-kit';
import { counted } from '../reports/counted.ts';
import { type Action } from './action.ts';

interface MovedBack {
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
 * Has no subject. Each dead letter gets another 100 receives. Unlike the sweep `dead-letters`, this spends no
 * attempt. Doing it twice is harmless, and so is a message whose work has ended: a worker acknowledges it
 * without effect.
 */
export const retryDeadLetters: Action = {
  name: 'retry-dead-letters',
  title: 'Move dead letters back',
  uses: ['sqs'],
  command: {
    name: 'retry-dead-letters',
    subjects: [],
    help: 'moves dead letters back to the queues that they came from',
    reason: 'none',
  },
  check: async ({ sqs, config: { queues } }) => {
    const counts = await Promise.all(
      [queues.uploads, queues.jobs].map((name) =>
        queueCounts(sqs, createQueue(sqs, deadLetterQueueName(name))),
      ),
    );
    const count = counts.reduce((sum, { visible }) => sum + visible, 0);
    const sentence = `This moves about ${counted(count, 'dead letter')} back to the queues that they came from.`;
    return { count, sentence };
  },
  do: async ({ sqs, config: { queues } }) => {
    const moved = [
      await moveBack(sqs, queues.uploads, decodeUpload),
      await moveBack(sqs, queues.jobs, decodeJob),
    ];
    const parts = moved.map(
      (each) =>
        `${each.queue}: moved ${each.moved}, refused ${each.refused}, unreadable ${each.unreadable.length}`,
    );
    return { outcome: `${parts.join('; ')}.`, json: { queues: moved }, terminal: tableOf(moved) };
  },
};

async function moveBack(
  sqs: SqsClient,
  name: string,
  read: (body: string | undefined) => unknown,
): Promise<MovedBack> {
  const unreadable: { message_id: string; reason: string }[] = [];
  const queue = deadLetterQueueName(name);
  const { moved, refused } = await moveDeadLetters(sqs, {
    from: createQueue(sqs, queue),
    to: createQueue(sqs, name),
    read,
    onUnreadable: (message_id, error) => unreadable.push({ message_id, reason: reasonOf(error) }),
  });
  return { queue, moved, refused, unreadable };
}

function tableOf(moved: readonly MovedBack[]): string {
  const counts = formatTable(
    ['QUEUE', '>MOVED', '>REFUSED', '>UNREADABLE'],
    moved.map((each) => [
      each.queue,
      String(each.moved),
      String(each.refused),
      String(each.unreadable.length),
    ]),
  );
  const staying = moved.flatMap(({ queue, unreadable }) =>
    unreadable.map(({ message_id, reason }) => [queue, message_id, reason]),
  );
  if (staying.length === 0) return counts.trimEnd();
  const rest = formatTable(['QUEUE', 'MESSAGE', 'WHY'], staying).trimEnd();
  return `${counts}\nNo worker can read these messages. The sweep dead-letters removes them:\n${rest}`;
}

/** Not the body of the message: it may be a user's content. */
function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON_CHARACTERS);
}
