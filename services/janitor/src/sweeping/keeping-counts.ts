import type { SweepCounts } from './sweep.ts';

const kept = new WeakMap<object, SweepCounts>();

/** Lets `run` add to `counts`. When it throws, the counts are attached to the error: the batches before it are done and count. */
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

/** The counts that were attached to the error; none when there are none. */
export function countsBefore(error: unknown): SweepCounts {
  return (typeof error === 'object' && error !== null ? kept.get(error) : undefined) ?? {};
}
