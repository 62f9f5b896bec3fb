import type { SweepCounts } from './sweep.ts';

/**
 * How an operator's run of a sweep ended, for the record of the action.
 * @param counts null: the sweep was skipped
 * @param signal of the run. When it is aborted, the run may have ended before its last batch
 */
export function sweepOutcome(counts: SweepCounts | null, signal: AbortSignal): string {
  if (counts === null) return 'Another janitor was running the sweep.';
  const found = Object.entries(counts).map(([count, value]) => `${count} ${value}`);
  return `${signal.aborted ? 'Stopped early' : 'Done'}: ${found.join(', ')}.`;
}
