export type CancelTimer = () => void;

/** The time of a process. Tests pass their own. */
export interface Clock {
  /** Milliseconds; never goes back. */
  now(): number;
  /** Calls `run` once, after `ms` milliseconds. */
  after(ms: number, run: () => void): CancelTimer;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
