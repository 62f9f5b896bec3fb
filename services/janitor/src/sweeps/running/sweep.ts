import type { SweepName } from '../../sweep-names.ts';
import { RefusedRows } from './refused-rows.ts';

/** What one run found and did. Each sweep has a few fixed names, because they are labels of a metric. */
export type SweepCounts = Readonly<Record<string, number>>;

/**
 * A periodic pass of the janitor. SweepRunner and Schedule provide the schedule, the lock, the log line and
 * the metrics.
 */
export interface Sweep<Name extends SweepName = SweepName> {
  readonly name: Name;
  /** The rows that Postgres refuses to the sweep. */
  readonly refused: RefusedRows;
  /**
   * One run, in batches. Every batch leaves the data consistent, and the run ends between two batches once
   * the signal is aborted. Runs in several processes at once are safe.
   * @param into gets the counts. When the run throws, they say what the batches before have done
   * @returns the counts
   * @throws when the run can't continue, e.g. DependencyUnavailableError; the batches before the error remain
   * done
   */
  runOnce(signal: AbortSignal, into?: Record<string, number>): Promise<SweepCounts>;
}

/** One sweep for each name: a sweep that is missing, or under the name of another sweep, does not compile. */
export type Sweeps = { readonly [Name in SweepName]: Sweep<Name> };

/**
 * @param zero all counts of the sweep, at 0
 * @param run adds to the counts, and to the refused rows
 */
export function defineSweep<Name extends SweepName, Counts extends Record<string, number>>(
  name: Name,
  zero: Counts,
  run: (counts: Counts, signal: AbortSignal, refused: RefusedRows) => Promise<void>,
): Sweep<Name> {
  const refused = new RefusedRows();
  return {
    name,
    refused,
    runOnce: async (signal, into = {}) => {
      const counts = Object.assign(into, zero);
      refused.begin();
      await run(counts, signal, refused);
      if (!signal.aborted) refused.end();
      return counts;
    },
  };
}
