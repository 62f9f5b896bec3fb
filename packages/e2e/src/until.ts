import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

export interface UntilOptions {
  /** In ms; default: 60 s, far above what any condition here takes. */
  readonly within?: number;
  /** Evidence for the failure message, e.g. the last log lines. */
  readonly evidence?: () => string;
}

const MIN_PAUSE_MS = 20;
const MAX_PAUSE_MS = 250;
/** A condition that takes seconds is asked for less often, because a probe may list a bucket and read several tables. */
const PAUSE_SHARE = 0.1;

/**
 * Asks again and again until `accept` agrees, and answers what it agreed to. A probe or an `accept` that throws doesn't agree (yet):
 * `(paste) => expect(paste.status).toBe('PROCESSED')` is as good as a comparison. Rejects with the last value seen.
 */
export async function until<T>(
  probe: () => T | Promise<T>,
  accept: (value: T) => unknown = Boolean,
  { within = 60_000, evidence = () => '' }: UntilOptions = {},
): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    let seen: string;
    try {
      const value = await probe();
      seen = inspect(value, { depth: 6, breakLength: 110 });
      if (accept(value) !== false) return value;
    } catch (error) {
      seen = error instanceof Error ? error.message : inspect(error);
    }
    const waited = performance.now() - startedAt;
    if (waited > within) {
      throw new Error(`not within ${within} ms: ${String(accept)}\nlast seen: ${seen}\n${evidence()}`);
    }
    await sleep(Math.min(Math.max(waited * PAUSE_SHARE, MIN_PAUSE_MS), MAX_PAUSE_MS));
  }
}
