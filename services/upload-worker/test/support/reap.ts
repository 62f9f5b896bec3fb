import { decideNextStep, WORKER_LOST } from '@pasteflow/domain';
import { findZombies, jobSubject, settleExecutions, type Database } from '@pasteflow/postgres';
import type { Bench } from './bench.ts';

/** Two attempts. */
const policy = { delaysMs: [1], jitterMs: 0 };

/** As the janitor's reaper: ends the jobs' executions that are past their lease, and sends their successors' messages. @returns how many */
export async function reap({ db, send }: Pick<Bench, 'db' | 'send'>): Promise<number> {
  const zombies = await findZombies(db, jobSubject, 100);
  return endAsLost(
    { db, send },
    zombies.map(({ executionId, attempt }) => ({ executionId, attempt })),
    true,
  );
}

/** Ends executions behind their worker's back. */
export async function endAsLost(
  { db, send }: { db: Database; send: Bench['send'] },
  executions: readonly { executionId: string; attempt: number }[],
  onlyPastLease = false,
): Promise<number> {
  const outcome = { kind: 'lost', error: WORKER_LOST } as const;
  const settlements = executions.map(({ executionId, attempt }) => {
    return { executionId, outcome, nextStep: decideNextStep(outcome, attempt, policy, 0.5), ending: null };
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
