import {
  decideNextStep,
  WORKER_LOST,
  type AttemptOutcome,
  type MessageContext,
  type RetryPolicy,
} from '@pasteflow/domain';
import {
  claimExecutions,
  findOverdue,
  findStranded,
  findUndispatched,
  findZombies,
  inHalves,
  overdue,
  pastLease,
  removeOrphans,
  rescueStranded,
  settleExecutions,
  stampDispatched,
  undispatched,
  type Actor,
  type ClaimedExecution,
  type Found,
  type Search,
  type Settled,
  type Settlement,
  type StrandedAmong,
  type ExecutionSubject,
  type Zombie,
} from '@pasteflow/postgres';
import { messageSpans, type Logger, type Metrics } from '@pasteflow/runtime';
import type { AttemptEvents } from '@pasteflow/service-kit';
import {
  createQueue,
  deadLetterQueueName,
  sendTraced,
  sqsBatches,
  type Queue,
  type SqsClient,
} from '@pasteflow/sqs';
import { inLanes } from '../running/batches.ts';
import { MAX_NAMED } from '../running/findings.ts';
import type { RefusedRows } from '../running/refused-rows.ts';
import { RepeatedLosses } from '../running/findings.ts';
import {
  EXECUTIONS,
  type EndedAttempts,
  type RescueCounts,
  type SettledBy,
  type UnsentMessages,
  type WorkQueue,
} from './work-queue.ts';
import type { JanitorContext } from '../context.ts';

/** What a queue works with. */
export type QueueContext = Pick<JanitorContext, 'db' | 'sqs' | 'logger' | 'metrics'>;

/**
 * The outcome of an attempt whose worker has not settled it. The janitor knows of no success, and spends no
 * attempt.
 */
type Lost = Extract<AttemptOutcome, { kind: 'lost' }>;

/** What uploads and jobs do differently. */
interface QueueOfKind<
  Name,
  Claimed extends ClaimedExecution & Name,
  Ending extends Settlement,
  State extends string,
  Message extends { readonly executionId: string },
> {
  readonly subject: ExecutionSubject<Name, Claimed, Ending, State, Message>;
  readonly events: (logger: Logger, metrics: Metrics) => AttemptEvents<Name & ClaimedExecution, State>;
  /** A short code, or the id of a job. */
  readonly nameOf: (name: Name) => string;
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
  readonly settlementOf: (settlement: Settlement & { readonly outcome: Lost }) => Ending;
}

/**
 * Concurrent requests to SQS: after an outage thousands of messages must leave within seconds, at some 10 ms
 * a request.
 */
const LANES = 4;

/** Orphans a statement. */
const ORPHAN_BATCH = 500;

/** How long a statement that ends many executions waits for one locked row. */
const MAX_LOCK_WAIT_MS = 1000;

export function createWorkQueue<
  Name,
  Claimed extends ClaimedExecution & Name,
  Ending extends Settlement,
  State extends string,
  Message extends { readonly executionId: string },
>(
  { db, sqs, logger, metrics }: QueueContext,
  queueName: string,
  policy: RetryPolicy,
  ofKind: QueueOfKind<Name, Claimed, Ending, State, Message>,
): WorkQueue {
  const { subject, nameOf, messageOf, settlementOf } = ofKind;
  const queue = createQueue(sqs, queueName);
  const events = ofKind.events(logger, metrics);
  const repeatedLosses = new RepeatedLosses(subject.kind, logger);
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

  /**
   * What a search finds, after the orphans at its front are removed: with one left in front, a search for one
   * item would find nothing.
   */
  async function findItems<Item>(search: Search, find: () => Promise<Found<Item>>): Promise<readonly Item[]> {
    for (;;) {
      const { items, orphans } = await find();
      if (orphans === 0) return items;
      const removed = await removeOrphans(db, subject, search, ORPHAN_BATCH);
      if (removed.length === 0) return items;
      logger.warn(`executions without ${subject.kind === 'upload' ? 'a paste' : 'a job'} removed`, {
        count: removed.length,
        execution_ids: removed.slice(0, MAX_NAMED),
      });
    }
  }

  /** One row that is locked or refused holds up no others. */
  async function settleOrSkip(
    settlements: readonly Ending[],
    {
      refused,
      ...by
    }: { readonly actor: Actor; readonly onlyPastLease: boolean; readonly refused: RefusedRows },
  ): Promise<ReadonlyMap<string, Settled<State>>> {
    const settleBy = { ...by, dispatched: false, maxLockWaitMs: MAX_LOCK_WAIT_MS };
    const settled = await inHalves(
      settlements,
      (part) => settleExecutions(db, subject, part, settleBy),
      ({ executionId }, error) => refused.of(EXECUTIONS)(executionId, error),
    );
    return new Map(settled.flatMap((part) => [...part]));
  }

  async function end<Attempt extends Name & ClaimedExecution>(
    attempts: readonly Attempt[],
    errorOf: (attempt: Attempt) => string,
    { actor, random, refused, onlyPastLease }: SettledBy & { readonly onlyPastLease: boolean },
  ): Promise<EndedAttempts> {
    const endings = attempts.map((attempt) => {
      const outcome: Lost = { kind: 'lost', error: errorOf(attempt) };
      return { attempt, outcome, nextStep: decideNextStep(outcome, attempt, policy, random()) };
    });
    const settled = await settleOrSkip(
      endings.map(({ attempt: { executionId }, outcome, nextStep }) =>
        settlementOf({ executionId, outcome, nextStep }),
      ),
      { actor, onlyPastLease, refused },
    );
    const recorded = attempts.filter(({ executionId }) => settled.has(executionId));
    repeatedLosses.recorded(recorded.map((attempt) => ({ name: nameOf(attempt), losses: attempt.losses })));
    const successors: Message[] = [];
    for (const { attempt, outcome, nextStep } of endings) {
      const ended = settled.get(attempt.executionId);
      if (ended === undefined) continue;
      events.ended(attempt, { outcome, nextStep, status: ended.status });
      if (ended.successorId !== null) successors.push(messageOf(ended.successorId, attempt));
    }
    return { count: settled.size, successors: unsent(successors, refused) };
  }

  /** Stranded work counts as lost: its last execution ended without what should have followed. */
  async function rescue(
    among: StrandedAmong,
    limit: number,
    { actor, random, refused }: SettledBy,
  ): Promise<RescueCounts> {
    const waiting = new Set(refused.waiting(subject.table));
    const found = (await findStranded(db, subject, among, limit)).filter(
      ({ subjectId }) => !waiting.has(subjectId),
    );
    const rescues = found.map((stranded) => {
      const executionId = stranded.executionId ?? stranded.subjectId;
      const outcome: Lost = { kind: 'lost', error: stranded.reason };
      const nextStep = decideNextStep(outcome, stranded, policy, random());
      const ending = settlementOf({ executionId, outcome, nextStep });
      return { stranded, attempt: { ...stranded, executionId }, outcome, nextStep, ending };
    });
    const parts = await inHalves(
      rescues,
      (part) => rescueStranded(db, subject, part, actor),
      ({ stranded }, error) => refused.of(subject.table)(stranded.subjectId, error),
    );
    const rescued = new Map(parts.flatMap((part) => [...part]));
    let givenUp = 0;
    for (const { attempt, outcome, nextStep } of rescues) {
      const done = rescued.get(attempt.subjectId);
      if (done === undefined) continue;
      events.ended(attempt, { outcome, nextStep, status: done.status });
      if (done.successorId === null) givenUp += 1;
    }
    return { found: found.length, rescued: rescued.size - givenUp, givenUp };
  }

  return {
    kind: subject.kind,
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
    endZombies: async (limit, by) => {
      const zombies = await findItems(pastLease, () =>
        findZombies(db, subject, limit, by.refused.waiting(EXECUTIONS)),
      );
      const errorOf = ({ workerId }: Zombie) => `${WORKER_LOST}: ${workerId}`;
      return { found: zombies.length, ended: await end(zombies, errorOf, { ...by, onlyPastLease: true }) };
    },
    rescueStranded: rescue,
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
