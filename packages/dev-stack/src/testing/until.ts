import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

export interface UntilOptions {
  /** In ms. Default: 60 s, much longer than any condition here takes. */
  readonly within?: number;
  /** Evidence for the failure message, e.g. the last log lines. */
  readonly evidence?: () => string;
}

/** What a busy machine may take longer than a calm one for what is promised within some seconds. */
export const BUSY_MACHINE_MS = 30_000;

const MIN_PAUSE_MS = 10;
const MAX_PAUSE_MS = 250;
/** The longer the wait, the longer the pauses, because a probe may list a bucket and read several tables. */
const PAUSE_SHARE = 0.1;

/**
 * Calls `probe` until `accept` accepts its value, and returns that value. `accept` rejects a value by
 * returning false or by throwing, so that `(paste) => expect(paste.status).toBe('PROCESSED')` works too.
 * After the deadline, rejects with the last value.
 */
export async function until<T>(
  probe: () => T | Promise<T>,
  accept: (value: T) => boolean | void = Boolean,
  { within = 60_000, evidence = () => '' }: UntilOptions = {},
): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    let last: () => string;
    try {
      const value = await probe();
      last = () => inspect(value, { depth: 6, breakLength: 110 });
      if (accept(value) !== false) return value;
    } catch (error) {
      last = () => (error instanceof Error ? error.message : inspect(error));
    }
    const waited = performance.now() - startedAt;
    if (waited > within) {
      throw new Error(`not within ${within} ms: ${String(accept)}\nlast value: ${last()}\n${evidence()}`);
    }
    await sleep(Math.min(Math.max(waited * PAUSE_SHARE, MIN_PAUSE_MS), MAX_PAUSE_MS));
  }
}
