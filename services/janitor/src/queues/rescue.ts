import { decideNextStep } from '@pasteflow/domain';
import {
  findStranded,
  rescueStranded,
  type ClaimedExecution,
  type Settlement,
  type StrandedAmong,
} from '@pasteflow/postgres';
import type { SettledBy, UnfinishedOutcome, WorkQueueOptions } from './work-queue-options.ts';

export interface RescueCounts {
  readonly found: number;
  /** Got their next execution. The relay sends its message when it is due. */
  readonly rescued: number;
  /** Were brought to their end. */
  readonly givenUp: number;
}

/**
 * Stranded work counts as lost: its last execution ended without what should have followed. The retry policy decides the next step, as it
 * does for the work of a crashed worker.
 */
export function createRescue<
  Name,
  Claimed extends ClaimedExecution & Name,
  Ending extends Settlement,
  State extends string,
  Message extends object,
>({
  db,
  policy,
  subject,
  events,
  settlementOf,
}: WorkQueueOptions<Name, Claimed, Ending, State, Message>): (
  among: StrandedAmong,
  limit: number,
  by: SettledBy,
) => Promise<RescueCounts> {
  return async (among, limit, { actor, random }) => {
    const found = await findStranded(db, subject, among, limit);
    const rescues = found.map((stranded) => {
      const executionId = stranded.executionId ?? stranded.subjectId;
      const outcome: UnfinishedOutcome = { kind: 'lost', error: stranded.reason };
      const nextStep = decideNextStep(outcome, stranded, policy, random());
      const ending = settlementOf({ executionId, outcome, nextStep });
      return { stranded, attempt: { ...stranded, executionId }, outcome, nextStep, ending };
    });
    const rescued = await rescueStranded(db, subject, rescues, actor);
    let givenUp = 0;
    for (const { attempt, outcome, nextStep } of rescues) {
      const done = rescued.get(attempt.subjectId);
      if (done === undefined) continue;
      events.ended(attempt, { outcome, nextStep, status: done.status });
      if (done.successorId === null) givenUp += 1;
    }
    return { found: found.length, rescued: rescued.size - givenUp, givenUp };
  };
}
