import type { SweepCounts } from './sweep.ts';

const kept = new WeakMap<object, SweepCounts>();

/** Has `run` count in `counts`, and keeps what it counted also when it throws: what a sweep has done by then is done. */
export async function keepingCounts<Counts extends SweepCounts>(
  counts: Counts,
  run: (counts: Counts) => Promise<void>,
): Promise<Counts> {
  try {
    await run(counts);
    return counts;
  } catch (error) {
    keepCounts(error, counts);
    throw error;
  }
}

export function keepCounts(error: unknown, counts: SweepCounts): void {
  if (typeof error === 'object' && error !== null) kept.set(error, counts);
}

/** What was counted before this was thrown; nothing, where nobody kept it. */
export function countsBefore(error: unknown): SweepCounts {
  return (typeof error === 'object' && error !== null ? kept.get(error) : undefined) ?? {};
}
