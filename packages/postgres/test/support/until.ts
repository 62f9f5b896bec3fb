import { setTimeout as sleep } from 'node:timers/promises';

/** Polls a condition every 10 ms. @throws Error after 60 s, with the last value */
export async function until<T>(
  look: () => T | Promise<T>,
  isTrue: (value: T) => boolean = Boolean,
): Promise<T> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const value = await look();
    if (isTrue(value)) return value;
    if (performance.now() > deadline) throw new Error(`still ${JSON.stringify(value)} after 60 s`);
    await sleep(10);
  }
}
