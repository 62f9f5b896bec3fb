import type { RunningApi } from './api.ts';
import { until } from './until.ts';

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
