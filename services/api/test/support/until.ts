import { setTimeout as sleep } from 'node:timers/promises';

/** Polls a condition every 10 ms. @throws Error after the deadline, with the last value */
export async function until<T>(
  look: () => T | Promise<T>,
  isTrue: (value: T) => boolean = Boolean,
  deadlineMs = 60_000,
): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const value = await look();
    if (isTrue(value)) return value;
    if (performance.now() > deadline)
      throw new Error(`still ${JSON.stringify(value)} after ${deadlineMs} ms`);
    await sleep(10);
  }
}
