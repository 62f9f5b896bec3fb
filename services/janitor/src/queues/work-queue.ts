import { decideNextStep } from '@pasteflow/domain';
import {
  claimExecutions,
  findOverdue,
  findUndispatched,
  findZombies,
  isTimeout,
  overdue,
  pastLease,
  removeOrphans,
  settleExecutions,
  undispatched,
  type Actor,
  type Claim,
  type ClaimedExecution,
  type ExecutionKind,
  type Found,
  type Search,
  type Settled,
  type Settlement,
  type StrandedAmong,
  type Zombie,
} from '@pasteflow/postgres';
import type { Queue } from '@pasteflow/sqs';
import { MAX_NAMED } from '../sweep-runner/findings.ts';
import { createRescue, type RescueCounts } from './rescue.ts';
import type { SettledBy, UnfinishedOutcome, WorkQueueOptions } from './work-queue-options.ts';
import { unsentMessages, type UnsentMessages } from './unsent-messages.ts';

/** A queue of uploads or of jobs, with the executions behind its messages: what relay, reap-executions and dead-letters work on. */
export interface WorkQueue {
  readonly kind: ExecutionKind;
  readonly queue: Queue;
  readonly deadLetters: Queue;
  /**
   * Whether a message starts only the upload that it names. A message of a job starts the due job whose turn it is, so what happened to
   * the message says nothing about the job that it names.
   */
  readonly startsWhatItNames: boolean;
  /** Messages that were never sent. */
  findUndispatched(options: { graceSeconds: number; limit: number }): Promise<UnsentMessages>;
  /** Messages that were sent and may be lost, the longest sent first. */
  findOverdue(options: { olderThanSeconds: number; limit: number }): Promise<UnsentMessages>;
  /** How many of the overdue messages count as lost; null: the queue is too deep to tell. */
  countLost(): Promise<number | null>;
  /** The short code or the job id in the body of a message. @throws PasteflowError malformed_message */
  readKey(body: string | undefined): string;
  /** Ends up to `limit` zombies. */
  endZombies(
    limit: number,
    outcomeOf: (zombie: Zombie) => UnfinishedOutcome,
    by: SettledBy,
  ): Promise<{ readonly found: number; readonly ended: EndedAttempts }>;
  /** Gives stranded work its next execution, or brings it to its end. */
  rescueStranded(among: StrandedAmong, limit: number, by: SettledBy): Promise<RescueCounts>;
  /** Claims the due executions of these uploads or jobs, and ends them. A key without a claim: the paste or the job was removed. */
  endDue(
    keys: readonly string[],
    outcome: UnfinishedOutcome,
    by: SettledBy & { readonly leaseSeconds: number },
  ): Promise<{
    readonly claims: ReadonlyMap<string, Claim<ClaimedExecution>>;
    readonly ended: EndedAttempts;
  }>;
}

/** Orphans a statement. */
const ORPHAN_BATCH = 500;

/** How long a statement that ends many executions waits for one locked row. */
const MAX_LOCK_WAIT_MS = 1000;

interface EndedAttempts {
  /** The settlements that took effect. */
  readonly count: number;
  /** The messages of the attempts that follow, due at once or after their wait. */
  readonly successors: UnsentMessages;
}

export function createWorkQueue<
  Name,
  Claimed extends ClaimedExecution & Name,
  Ending extends Settlement,
  State extends string,
  Message extends object,
>(options: WorkQueueOptions<Name, Claimed, Ending, State, Message>): WorkQueue {
  const { db, policy, subject, events, repeatedLosses, nameOf, logger, send, messageOf, settlementOf } =
    options;
  const unsent = (messages: readonly Message[]) => unsentMessages(db, messages, send);

  /** What a search finds, after the orphans at its front are removed: with one left in front, a search for one item would find nothing. */
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

  /**
   * Settles in one statement. When that times out, settles row by row, so that one locked paste or job holds up no others. A row that
   * times out alone is left for the next run.
   */
  async function settleOrSkip(
    settlements: readonly Ending[],
    by: { readonly actor: Actor; readonly onlyPastLease: boolean },
  ): Promise<ReadonlyMap<string, Settled<State>>> {
    try {
      const settleBy = { ...by, dispatched: false, maxLockWaitMs: MAX_LOCK_WAIT_MS };
      return await settleExecutions(db, subject, settlements, settleBy);
    } catch (error) {
      if (!isTimeout(error)) throw error;
      if (settlements.length === 1) return new Map();
      const settled = new Map<string, Settled<State>>();
      for (const each of settlements)
        for (const [executionId, one] of await settleOrSkip([each], by)) settled.set(executionId, one);
      return settled;
    }
  }

  async function end<Attempt extends Name & ClaimedExecution>(
    attempts: readonly Attempt[],
    outcomeOf: (attempt: Attempt) => UnfinishedOutcome,
    { actor, random, onlyPastLease }: SettledBy & { readonly onlyPastLease: boolean },
  ): Promise<EndedAttempts> {
    const endings = attempts.map((attempt) => {
      const outcome = outcomeOf(attempt);
      return { attempt, outcome, nextStep: decideNextStep(outcome, attempt, policy, random()) };
    });
    const settled = await settleOrSkip(
      endings.map(({ attempt: { executionId }, outcome, nextStep }) =>
        settlementOf({ executionId, outcome, nextStep }),
      ),
      { actor, onlyPastLease },
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
    return { count: settled.size, successors: unsent(successors) };
  }

  return {
    kind: subject.kind,
    queue: options.queue,
    deadLetters: options.deadLetters,
    startsWhatItNames: options.startsWhatItNames,
    countLost: options.countLost,
    readKey: options.readKey,
    findUndispatched: async (which) =>
      unsent(await findItems(undispatched(which.graceSeconds), () => findUndispatched(db, subject, which))),
    findOverdue: async (which) =>
      unsent(await findItems(overdue(which.olderThanSeconds), () => findOverdue(db, subject, which))),
    endZombies: async (limit, outcomeOf, by) => {
      const zombies = await findItems(pastLease, () => findZombies(db, subject, limit));
      return { found: zombies.length, ended: await end(zombies, outcomeOf, { ...by, onlyPastLease: true }) };
    },
    rescueStranded: createRescue(options),
    endDue: async (keys, outcome, { leaseSeconds, ...by }) => {
      const claims = await claimExecutions(db, subject, { keys, actor: by.actor, leaseSeconds });
      const claimed = [...claims.values()].flatMap((claim) =>
        claim.kind === 'claimed' ? [claim.execution] : [],
      );
      for (const attempt of claimed) events.started(attempt);
      return { claims, ended: await end(claimed, () => outcome, { ...by, onlyPastLease: false }) };
    },
  };
}
