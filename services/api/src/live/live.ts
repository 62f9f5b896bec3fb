import { DependencyUnavailableError } from '@pasteflow/domain';
import { findGoodTokens, readChanges, type Database } from '@pasteflow/postgres';
import { runOutsideSpans, type Component, type Logger, type Metrics } from '@pasteflow/runtime';
import { Semaphore, withTimeout, type SemaphoreInterface } from 'async-mutex';
import type { WaitingPlaces } from '../http/limits/waiting-places.ts';
import { ChangePoller } from './change-poller.ts';
import { Heartbeat } from './heartbeat.ts';

export interface LiveTimings {
  readonly heartbeatMs?: number;
}

/** What the endpoints that wait need. */
export interface Live {
  readonly poller: ChangePoller;
  readonly heartbeat: Heartbeat;
  readonly places: Pick<WaitingPlaces, 'take' | 'tryTake'>;
  /** For the reads after waits: see readAgain. */
  readonly turns: SemaphoreInterface;
}

/** Other requests have the rest of the pool (10 connections by default). */
const READS_AT_ONCE = 4;

/** As long as a statement. Only a Postgres that does not answer makes a read wait for its turn so long. */
const MAX_TURN_WAIT_MS = 30_000;

/** Stop `waiting` before the server: the server waits for its requests, including those that wait. */
export function composeLive({
  db,
  maxWaiters,
  places,
  logger,
  metrics,
  heartbeatMs,
}: LiveTimings & {
  readonly db: Database;
  readonly maxWaiters: number;
  readonly places: Live['places'];
  readonly logger: Logger;
  readonly metrics: Metrics;
}): Live & { readonly waiting: Component } {
  const waiters = metrics.gauge({
    name: 'live_waiters',
    help: 'Requests that wait for a change: with Prefer: wait, for events, or for content whose upload is in progress.',
    labels: ['kind'],
  });
  const reads = metrics.counter({
    name: 'live_reads_total',
    help: 'Statements that read the changes of all pastes and jobs that clients wait for.',
    labels: ['outcome'],
  });
  for (const kind of ['wait', 'events', 'content']) waiters.set({ kind }, 0);
  for (const outcome of ['ok', 'failed']) reads.inc({ outcome }, 0);

  const poller = new ChangePoller({
    // Outside the span of the request that happens to set the timer: the read is for all.
    read: async (subscriptions) => {
      const found = await runOutsideSpans(() => readChanges(db, subscriptions));
      reads.inc({ outcome: 'ok' });
      return found;
    },
    maxWatchers: maxWaiters,
    onCount: (kind, count) => waiters.set({ kind }, count),
    onReadFailed: (error, { failures, retryInMs }) => {
      reads.inc({ outcome: 'failed' });
      runOutsideSpans(() => logger.warn('changes not read', { failures, retry_in_ms: retryInMs, error }));
    },
  });
  const heartbeat = new Heartbeat({
    everyMs: heartbeatMs,
    findGood: (hashes) => runOutsideSpans(() => findGoodTokens(db, hashes)),
    onCheckFailed: (error) => runOutsideSpans(() => logger.warn('callers of streams not checked', { error })),
  });
  return {
    poller,
    heartbeat,
    places,
    turns: withTimeout(
      new Semaphore(READS_AT_ONCE),
      MAX_TURN_WAIT_MS,
      new DependencyUnavailableError('postgres'),
    ),
    waiting: {
      name: 'waiting clients',
      start: () => Promise.resolve(),
      stop: () => Promise.resolve(poller.stop()),
    },
  };
}
