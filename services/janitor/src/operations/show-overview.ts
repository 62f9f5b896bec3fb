import type { ShownOverview } from '@pasteflow/web';
import type { Minutes } from './minutes.ts';
import type { Reading } from './overview-reader.ts';

/** The reading as the page shows it. */
export function showOverview({ status, actions, blocks, isStale }: Reading, minutes: Minutes): ShownOverview {
  const { at, states, stuck, lost, queues, sweeps } = status;
  return {
    at: at.toISOString(),
    isStale,
    states,
    stuck,
    lost,
    queues,
    minutes,
    blocks,
    sweeps: sweeps.map(({ last_success_at: last, ...sweep }) => ({
      ...sweep,
      success_seconds_ago: last === null ? null : Math.max(0, (at.getTime() - last.getTime()) / 1000),
    })),
    actions: actions.map((action) => ({ ...action, at: action.at.toISOString() })),
  };
}
