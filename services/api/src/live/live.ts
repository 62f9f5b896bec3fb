import { ChangeListener, lookAt, type Database } from '@pasteflow/postgres';
import { PollLoop, runOutsideSpans, type Component, type Logger, type Metrics } from '@pasteflow/runtime';
import { ChangeWatch } from './change-watch.ts';
import { HEARTBEAT_MS } from './event-stream.ts';

export interface LiveTimings {
  readonly heartbeatMs?: number;
  readonly keepAliveMs?: number;
}

export interface LiveOptions extends LiveTimings {
  readonly db: Database;
  readonly url: string;
  readonly instance: string;
  readonly maxWaiters: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** What endpoints that wait stand on. */
export interface Live {
  readonly watch: ChangeWatch;
  readonly heartbeatMs: number;
}

/** Between two connections when the one before had worked. */
const RECONNECT_MS = 200;
const BACKOFF = { firstMs: 200, capMs: 5000, jitter: 0.2 };

/** While nobody tells what changes. */
const POLL_MS = 1000;

/** And every so many polls all the same: a database whose triggers are still those of the version before tells nothing. */
const POLLS_TO_A_SAFE_ONE = 30;

/**
 * The listener and those who wait. `listening` starts before the server and stops after it; `waiting` is to be stopped before the server, which
 * would else wait for the waiting.
 */
export function composeLive(options: LiveOptions): Live & { listening: Component; waiting: Component } {
  const { db, url, instance, maxWaiters, logger, metrics, heartbeatMs = HEARTBEAT_MS, keepAliveMs } = options;
  const waiters = metrics.gauge({
    name: 'live_waiters',
    help: 'Requests that wait for a change: by Prefer: wait, or for events.',
    labels: ['kind'],
  });
  const connected = metrics.gauge({
    name: 'live_listener_connected',
    help: '1 while Postgres tells this process what changes; 0 while it asks once a second.',
  });
  for (const kind of ['wait', 'events']) waiters.set({ kind }, 0);
  connected.set(0);

  const watch = new ChangeWatch({
    look: (wanted) => runOutsideSpans(() => lookAt(db, wanted)), // for all, whoever's wait has set it off
    maxWatchers: maxWaiters,
    onCount: (kind, count) => waiters.set({ kind }, count),
  });
  const listener = new ChangeListener({
    url,
    applicationName: `${instance} live`,
    ...(keepAliveMs !== undefined && { keepAliveMs }),
    onChanges: (changes) => watch.changed(changes),
    onListening: () => {
      connected.set(1);
      watch.changed('all');
    },
    onLost: (error) => {
      connected.set(0);
      logger.warn('changes are asked for until they are told again', { error });
      watch.changed('all');
    },
  });
  let polls = 0;
  const loops = [
    new PollLoop({
      name: 'listen for changes',
      intervalMs: RECONNECT_MS,
      backoff: BACKOFF,
      run: (signal) => listener.listen(signal),
      onError: (error, next) => logger.warn('cannot listen for changes', { error, ...next }),
    }),
    new PollLoop({
      name: 'ask for changes',
      intervalMs: POLL_MS,
      run: () => {
        polls += 1;
        if (!listener.listening || polls % POLLS_TO_A_SAFE_ONE === 0) watch.changed('all');
        return Promise.resolve();
      },
      onError: (error) => logger.error('asking for changes failed', { error }),
    }),
  ];
  return {
    watch,
    heartbeatMs,
    listening: {
      name: 'change listener',
      start: async () => {
        await Promise.all(loops.map((loop) => loop.start()));
      },
      stop: async () => {
        await Promise.all(loops.map((loop) => loop.stop()));
      },
    },
    waiting: {
      name: 'waiting clients',
      start: () => Promise.resolve(),
      stop: () => Promise.resolve(watch.stop()),
    },
  };
}
