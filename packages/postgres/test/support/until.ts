import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Polls a condition at once, and then with pauses of a tenth of the time waited, from 10 to 100 ms.
 * @throws Error after 60 s, with the last value
 */
export async function until<T>(
  look: () => T | Promise<T>,
  isTrue: (value: T) => boolean = Boolean,
): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    const value = await look();
    if (isTrue(value)) return value;
    const waited = performance.now() - startedAt;
    if (waited > 60_000) throw new Error(`still ${JSON.stringify(value)} after 60 s`);
    await sleep(Math.min(Math.max(waited / 10, 10), 100));
  }
}
