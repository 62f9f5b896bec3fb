import { decideNextStep, WORKER_LOST, type AttemptOutcome, type RetryPolicy } from '@pasteflow/domain';
import {
  findStranded,
  findZombies,
  inHalves,
  pastLease,
  removeOrphans,
  rescueStranded,
  settleExecutions,
  type ClaimedExecution,
  type Found,
  type Search,
  type Settled,
  type Settlement,
  type SweptSubject,
  type Zombie,
} from '@pasteflow/postgres';
import type { Logger, Metrics } from '@pasteflow/runtime';
import type { AttemptEvents } from '@pasteflow/service-kit';
import type { JanitorContext } from '../context.ts';
import { MAX_NAMED, RepeatedLosses } from '../running/findings.ts';
import type { RefusedRows } from '../running/refused-rows.ts';
import {
  EXECUTIONS,
  type EndedAttempts,
  type SettledBy,
  type SweptWork,
  type UnsentMessages,
} from './work-queue.ts';

/**
 * The outcome of an attempt whose worker has not settled it. The janitor knows of no success, and spends no
 * attempt.
 */
type Lost = Extract<AttemptOutcome, { kind: 'lost' }>;

/** An attempt that follows another. */
export interface Successor<Name> {
  readonly executionId: string;
  readonly name: Name;
}

/** What each kind of work does differently. */
export interface WorkOfKind<Name, Ending extends Settlement, State extends string> {
  readonly subject: SweptSubject<Name, Ending, State>;
  readonly events: (logger: Logger, metrics: Metrics) => AttemptEvents<Name & ClaimedExecution, State>;
  /** A short code, or the id of a job or of a delivery. */
  readonly nameOf: (name: Name) => string;
  readonly settlementOf: (settlement: Settlement & { readonly outcome: Lost }) => Ending;
}

/** Orphans a statement. */
const ORPHAN_BATCH = 500;

/** How long a statement that ends many executions waits for one locked row. */
const MAX_LOCK_WAIT_MS = 1000;

const WITHOUT_SUBJECT = {
  upload: 'executions without a paste removed',
  job: 'executions without a job removed',
  webhook: 'executions without a delivery removed',
} as const;

/**
 * The sweeps of one kind of work, and the parts of them that a queue needs, too.
 * @param unsent the messages of attempts that follow others
 */
export function createSweptWork<Name, Ending extends Settlement, State extends string>(
  { db, logger, metrics }: Pick<JanitorContext, 'db' | 'logger' | 'metrics'>,
  policy: RetryPolicy,
  { subject, nameOf, settlementOf, events: eventsOf }: WorkOfKind<Name, Ending, State>,
  unsent: (successors: readonly Successor<Name>[], refused: RefusedRows) => UnsentMessages,
) {
  const events = eventsOf(logger, metrics);
  const repeatedLosses = new RepeatedLosses(subject.kind, logger);

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
      logger.warn(WITHOUT_SUBJECT[subject.kind], {
        count: removed.length,
        execution_ids: removed.slice(0, MAX_NAMED),
      });
    }
  }

  /** One row that is locked or refused holds up no others. */
  async function settleOrSkip(
    settlements: readonly Ending[],
    { refused, ...by }: Pick<SettledBy, 'actor' | 'refused'> & { readonly onlyPastLease: boolean },
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
    const successors: Successor<Name>[] = [];
    for (const { attempt, outcome, nextStep } of endings) {
      const ended = settled.get(attempt.executionId);
      if (ended === undefined) continue;
      events.ended(attempt, { outcome, nextStep, status: ended.status });
      if (ended.successorId !== null) successors.push({ executionId: ended.successorId, name: attempt });
    }
    return { count: settled.size, successors: unsent(successors, refused) };
  }

  /** Stranded work counts as lost: its last execution ended without what should have followed. */
  const rescue: SweptWork['rescueStranded'] = async (among, limit, { actor, random, refused }) => {
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
  };

  const work: SweptWork = {
    kind: subject.kind,
    endZombies: async (limit, by) => {
      const zombies = await findItems(pastLease, () =>
        findZombies(db, subject, limit, by.refused.waiting(EXECUTIONS)),
      );
      const errorOf = ({ workerId }: Zombie) => `${WORKER_LOST}: ${workerId}`;
      return { found: zombies.length, ended: await end(zombies, errorOf, { ...by, onlyPastLease: true }) };
    },
    rescueStranded: rescue,
  };
  return { work, events, findItems, end };
}
