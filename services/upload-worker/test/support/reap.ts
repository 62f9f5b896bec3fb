import { decideNextStep, WORKER_LOST, type AttemptCount } from '@pasteflow/domain';
import { findZombies, jobSubject, settleExecutions, type Database } from '@pasteflow/postgres';
import type { Bench } from './bench.ts';

/** The second loss ends a job. */
const policy = { delaysMs: [1], jitterMs: 0, maxLosses: 2 };

/**
 * Does the work of the reaper: ends the executions whose lease has expired, and sends the messages of their
 * successors. @returns the number of ended executions
 */
export async function reap({ db, send }: Pick<Bench, 'db' | 'send'>): Promise<number> {
  const { items: zombies } = await findZombies(db, jobSubject, 100);
  return endAsLost({ db, send }, zombies, true);
}

/** Ends executions as lost while their worker runs them. */
export async function endAsLost(
  { db, send }: { db: Database; send: Bench['send'] },
  executions: readonly ({ executionId: string } & AttemptCount)[],
  onlyPastLease = false,
): Promise<number> {
  const outcome = { kind: 'lost', error: WORKER_LOST } as const;
  const settlements = executions.map((execution) => {
    const { executionId } = execution;
    return { executionId, outcome, nextStep: decideNextStep(outcome, execution, policy, 0.5), ending: null };
  });
  const settled = await settleExecutions(db, jobSubject, settlements, {
    actor: 'janitor/test',
    onlyPastLease,
    dispatched: false,
  });
  for (const { subjectId, successorId } of settled.values())
    if (successorId !== null) await send(subjectId, successorId);
  return settled.size;
}
