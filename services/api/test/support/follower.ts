import { setTimeout as sleep } from 'node:timers/promises';
import { readEvents, type SentEvent } from './event-reader.ts';

/**
 * A client that reconnects with Last-Event-ID whenever its stream is over, until the end: to each URL in
 * turn.
 */
export interface Follower {
  readonly events: readonly SentEvent[];
  /** The number of connections. */
  readonly connections: number;
  /** Resolves at the end. */
  readonly done: Promise<void>;
}

/** @param leaveAfter disconnects after this number of events */
export function follow(
  urls: readonly string[],
  headers: Record<string, string>,
  { leaveAfter = Infinity }: { leaveAfter?: number } = {},
): Follower {
  const events: SentEvent[] = [];
  let connections = 0;
  const run = async (): Promise<void> => {
    while (events.at(-1)?.event !== 'end') {
      const url = urls[connections++ % urls.length]!;
      const last = events.at(-1)?.id;
      const reader = await readEvents(url, {
        ...headers,
        ...(last !== undefined && { 'last-event-id': last }),
      }).catch(() => null); // refused, or 503 while Postgres is unavailable
      if (reader === null) {
        await sleep(20);
        continue;
      }
      if (leaveAfter < Infinity) {
        await Promise.race([reader.over, reader.has(leaveAfter).catch(() => {})]);
        await reader.leave();
      }
      await reader.over;
      events.push(...reader.events.slice(0, leaveAfter));
    }
  };
  return {
    events,
    get connections() {
      return connections;
    },
    done: run(),
  };
}
