import type { TransitionStatistic } from '@pasteflow/postgres';

/** The ends of work in each minute of the last hour, oldest first. */
export interface Minutes {
  readonly stored: readonly number[];
  readonly failed: readonly number[];
  readonly jobs: readonly number[];
}

interface Totals {
  readonly stored: number;
  readonly failed: number;
  readonly jobs: number;
}

const MINUTE_MS = 60_000;
const KEPT_MINUTES = 60;

/**
 * Remembers the totals of the transitions at each minute of the last hour. They come from the reading of the
 * metrics, so that the charts cost no statement. A janitor that has just started knows no earlier minutes.
 */
export class MinuteHistory {
  /** The last totals of each minute, by the number of the minute. */
  readonly #totals = new Map<number, Totals>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  learn(statistics: readonly TransitionStatistic[]): void {
    const count = (machine: string, to: readonly string[]) =>
      statistics
        .filter((each) => each.machine === machine && to.includes(each.to))
        .reduce((sum, each) => sum + each.count, 0);
    const minute = Math.floor(this.#nowMs() / MINUTE_MS);
    const totals = {
      stored: count('paste_upload', ['PROCESSED']),
      failed: count('paste_upload', ['FAILED']),
      jobs: count('job', ['completed', 'partial', 'failed']),
    };
    // What ends in the first minute is counted from the first reading on.
    if (this.#totals.size === 0) this.#totals.set(minute - 1, totals);
    this.#totals.set(minute, totals);
    for (const known of this.#totals.keys()) if (known < minute - KEPT_MINUTES) this.#totals.delete(known);
  }

  read(): Minutes {
    const totals = [...this.#totals].toSorted(([a], [b]) => a - b);
    const of = (name: keyof Totals): number[] => {
      const perMinute: number[] = [];
      for (const [index, [minute, total]] of totals.entries()) {
        const [earlier, before] = totals[index - 1] ?? [];
        if (earlier === undefined || before === undefined) continue;
        // A minute without a reading shares what the next one has counted.
        const gap = minute - earlier;
        const share = Math.max(0, total[name] - before[name]) / gap;
        perMinute.push(...Array.from({ length: gap }, () => share));
      }
      return perMinute.slice(-KEPT_MINUTES);
    };
    return { stored: of('stored'), failed: of('failed'), jobs: of('jobs') };
  }
}
