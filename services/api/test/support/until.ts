import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Polls a condition at once, and then with pauses of a tenth of the time waited, from 10 to 100 ms. Reading
 * the metrics of an api takes 3 ms of CPU time.
 * @throws Error after the deadline, with the last value
 */
export async function until<T>(
  look: () => T | Promise<T>,
  isTrue: (value: T) => boolean = Boolean,
  deadlineMs = 60_000,
): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    const value = await look();
    if (isTrue(value)) return value;
    const waited = performance.now() - startedAt;
    if (waited > deadlineMs) throw new Error(`still ${JSON.stringify(value)} after ${deadlineMs} ms`);
    await sleep(Math.min(Math.max(waited / 10, 10), 100));
  }
}
