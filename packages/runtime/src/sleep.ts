import { setTimeout as wait } from 'node:timers/promises';

/** Resolves after `ms` milliseconds, or when the signal is aborted. Never rejects. Tests pass their own. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

export const sleep: Sleep = async (ms, signal) => {
  try {
    await wait(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};
