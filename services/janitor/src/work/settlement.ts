import { decideNextStep, type RetryPolicy } from '@pasteflow/domain';
import type { Settlement } from './work.ts';

/** What the retry policy makes of an attempt that its worker didn't end. @param random uniform in [0, 1) */
export function settlementOf(
  { executionId, attempt }: { readonly executionId: string; readonly attempt: number },
  outcome: Settlement['outcome'],
  policy: RetryPolicy,
  random: number,
): Settlement {
  const nextStep = decideNextStep(outcome, attempt, policy, random);
  if (nextStep.kind === 'done') throw new TypeError(`an attempt that ${outcome.kind} is not done`);
  return { executionId, outcome, nextStep };
}
