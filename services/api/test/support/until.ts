import { metricOf, until } from '@pasteflow/dev-stack/testing';
import type { RunningApi } from './api.ts';

export { metricOf, until };

/** Resolves when this number of requests waits in an api. */
export async function waiting(
  api: Pick<RunningApi, 'metricsUrl'>,
  count: number,
  kind: 'wait' | 'events' | 'content' = 'wait',
): Promise<void> {
  await until(
    () => metricOf(api, 'live_waiters', { kind }),
    (found) => found === count,
  );
}
