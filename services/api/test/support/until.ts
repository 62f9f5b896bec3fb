import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningApi } from './api.ts';

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

/** Resolves when this number of requests waits in an api. */
export async function waiting(
  { metricsUrl }: Pick<RunningApi, 'metricsUrl'>,
  count: number,
  kind: 'wait' | 'events' | 'content' = 'wait',
): Promise<void> {
  const line = new RegExp(`^live_waiters\\{kind="${kind}"[^}]*\\} (\\d+)$`, 'm');
  await until(
    async () => Number(line.exec(await (await fetch(`${metricsUrl}/metrics`)).text())?.[1]),
    (found) => found === count,
    30_000, // a thousand requests take 10 s on a busy machine
  );
}

/** The value of one series of an api's metrics; 0: there is none. */
export async function metricOf(
  { metricsUrl }: { readonly metricsUrl: string },
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const line = text
    .split('\n')
    .find((each) => each.startsWith(`${name}{`) && wanted.every((label) => each.includes(label)));
  return Number(line?.split(' ').at(-1) ?? 0);
}
