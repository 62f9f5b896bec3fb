import { setTimeout as wait } from 'node:timers/promises';

/** Resolves after `ms`, or as soon as the signal is aborted; it never rejects. Tests pass one of their own. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

export const sleep: Sleep = async (ms, signal) => {
  try {
    await wait(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};
