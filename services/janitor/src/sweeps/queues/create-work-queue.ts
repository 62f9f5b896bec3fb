import type { MessageContext, RetryPolicy } from '@pasteflow/domain';
import {
  claimExecutions,
  findOverdue,
  findUndispatched,
  inHalves,
  overdue,
  stampDispatched,
  undispatched,
  type ClaimedExecution,
  type ExecutionSubject,
  type Settlement,
} from '@pasteflow/postgres';
import { messageSpans } from '@pasteflow/runtime';
import {
  createQueue,
  deadLetterQueueName,
  sendTraced,
  sqsBatches,
  type Queue,
  type SqsClient,
} from '@pasteflow/sqs';
import type { JanitorContext } from '../context.ts';
import { inLanes } from '../running/batches.ts';
import type { RefusedRows } from '../running/refused-rows.ts';
import { createSweptWork, type WorkOfKind } from './create-swept-work.ts';
import { EXECUTIONS, type UnsentMessages, type WorkQueue } from './work-queue.ts';

/** What a queue works with. */
export type QueueContext = Pick<JanitorContext, 'db' | 'sqs' | 'logger' | 'metrics'>;

/** What uploads and jobs do differently. */
interface QueueOfKind<
  Name,
  Claimed extends ClaimedExecution & Name,
  Ending extends Settlement,
  State extends string,
  Message extends { readonly executionId: string },
> extends WorkOfKind<Name, Ending, State> {
  readonly subject: ExecutionSubject<Name, Claimed, Ending, State, Message>;
  readonly startsWhatItNames: boolean;
  readonly countLost: (queue: Queue) => Promise<number | null>;
  readonly readKey: (body: string | undefined) => string;
  /**
   * Sends up to 10 messages in one request.
   * @returns the ids of the executions whose message SQS has accepted
   */
  readonly send: (
    sqs: SqsClient,
    queue: Queue,
    batch: readonly (Message & { readonly context: MessageContext })[],
  ) => Promise<readonly string[]>;
  /** The message of an attempt that follows another. */
  readonly messageOf: (executionId: string, name: Name) => Message;
}

/**
 * Concurrent requests to SQS: after an outage thousands of messages must leave within seconds, at some 10 ms
 * a request.
 */
const LANES = 4;

export function createWorkQueue<
  Name,
  Claimed extends ClaimedExecution & Name,
  Ending extends Settlement,
  State extends string,
  Message extends { readonly executionId: string },
>(
  janitor: QueueContext,
  queueName: string,
  policy: RetryPolicy,
  ofKind: QueueOfKind<Name, Claimed, Ending, State, Message>,
): WorkQueue {
  const { db, sqs } = janitor;
  const { subject, messageOf } = ofKind;
  const queue = createQueue(sqs, queueName);
  // The context of the request isn't stored: a message of the janitor starts a trace of its own.
  const trace = messageSpans<Message & { readonly context: MessageContext }>({
    queueName,
    relation: 'child',
  });

  function unsent(messages: readonly Message[], refused: RefusedRows): UnsentMessages {
    return {
      count: messages.length,
      dispatch: async (signal) => {
        let accepted = 0;
        await inLanes(sqsBatches(messages), { lanes: LANES, signal }, async (batch) => {
          const sent = await sendTraced(
            trace,
            batch.map((message) => ({ ...message, context: {} })),
            (traced) => ofKind.send(sqs, queue, traced),
          );
          await stampDispatched(db, sent, refused.of(EXECUTIONS));
          accepted += sent.length;
        });
        return accepted;
      },
    };
  }

  const { work, events, findItems, end } = createSweptWork(janitor, policy, ofKind, (successors, refused) =>
    unsent(
      successors.map(({ executionId, name }) => messageOf(executionId, name)),
      refused,
    ),
  );

  return {
    ...work,
    queue,
    deadLetters: createQueue(sqs, deadLetterQueueName(queueName)),
    startsWhatItNames: ofKind.startsWhatItNames,
    countLost: () => ofKind.countLost(queue),
    readKey: ofKind.readKey,
    findUndispatched: async ({ refused, ...which }) =>
      unsent(
        await findItems(undispatched(which.graceSeconds), () =>
          findUndispatched(db, subject, { ...which, without: refused.waiting(EXECUTIONS) }),
        ),
        refused,
      ),
    findOverdue: async ({ refused, ...which }) =>
      unsent(
        await findItems(overdue(subject.kind, which.olderThanSeconds), () =>
          findOverdue(db, subject, { ...which, without: refused.waiting(EXECUTIONS) }),
        ),
        refused,
      ),
    endDue: async (keys, error, { leaseSeconds, ...by }) => {
      const refused = new Set<string>();
      const parts = await inHalves(
        keys,
        (part) =>
          claimExecutions(db, subject, { keys: part, actor: by.actor, leaseSeconds, evenPaused: true }),
        (key, error) => {
          refused.add(key);
          by.refused.of(subject.table)(key, error);
        },
      );
      const claims = new Map(parts.flatMap((part) => [...part]));
      const claimed = [...claims.values()].flatMap((claim) =>
        claim.kind === 'claimed' ? [claim.execution] : [],
      );
      for (const attempt of claimed) events.started(attempt);
      return { claims, refused, ended: await end(claimed, () => error, { ...by, onlyPastLease: false }) };
    },
  };
}
