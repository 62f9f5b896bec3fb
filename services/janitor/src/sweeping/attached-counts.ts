import type { SweepCounts } from './sweep.ts';

const attached = new WeakMap<object, SweepCounts>();

/** Lets `run` add to `counts`. When `run` throws, the counts are attached to the error, because the batches before it are done. */
export async function runCounted<Counts extends SweepCounts>(
  counts: Counts,
  run: (counts: Counts) => Promise<void>,
): Promise<Counts> {
  try {
    await run(counts);
    return counts;
  } catch (error) {
    attachCounts(error, counts);
    throw error;
  }
}

export function attachCounts(error: unknown, counts: SweepCounts): void {
  if (typeof error === 'object' && error !== null) attached.set(error, counts);
}

/** The counts that were attached to the error; none when there are none. */
export function attachedCounts(error: unknown): SweepCounts {
  return (typeof error === 'object' && error !== null ? attached.get(error) : undefined) ?? {};
}
