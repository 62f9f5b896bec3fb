import { DependencyUnavailableError } from '@pasteflow/domain';
import { findGoodTokens, readChanges, type Database } from '@pasteflow/postgres';
import { runOutsideSpans, type Component, type Logger, type Metrics } from '@pasteflow/runtime';
import { Semaphore, withTimeout, type SemaphoreInterface } from 'async-mutex';
import type { WaitingPlaces } from '../http/limits/waiting-places.ts';
import { ChangePoller } from './change-poller.ts';
import type { Caller } from '../http/callers/caller.ts';

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

/** Proxies close idle connections, often after 60 s, some after 30 s. */
const HEARTBEAT_MS = 15_000;

/** A stream that goes on for as long as its caller is good. */
export interface BeatingStream {
  readonly caller: Caller;
  /** Sends a byte, so that no proxy closes the connection. */
  beat(): void;
  /** Ends the stream, because its token or session is no longer good. */
  refuse(): void;
}

export interface HeartbeatOptions {
  readonly everyMs?: number | undefined;
  /** Those of these tokens and sessions that are good, by their hashes in hex. */
  readonly findGood: (hashes: readonly Buffer[]) => Promise<ReadonlySet<string>>;
  readonly onCheckFailed: (error: unknown) => void;
}

/**
 * The beats of all streams of this process, and with each beat the check of all their callers: no stream
 * outlives its token by more than a beat, while Postgres answers.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #streams = new Set<BeatingStream>();
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** Call `remove` in the end. */
  add(stream: BeatingStream): void {
    this.#streams.add(stream);
    this.#timer ??= setInterval(() => this.#beat(), this.#options.everyMs ?? HEARTBEAT_MS);
  }

  remove(stream: BeatingStream): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #beat(): void {
    for (const stream of this.#streams) stream.beat();
    if (!this.#isChecking) void this.#check();
  }

  async #check(): Promise<void> {
    this.#isChecking = true;
    try {
      for (const stream of this.#streams) if (hasExpired(stream.caller)) stream.refuse();
      const streamsOf = Map.groupBy(this.#streams, ({ caller }) => hashOf(caller));
      const hashes = [...streamsOf.keys()].filter((hash) => hash !== null);
      if (hashes.length === 0) return;
      const good = await this.#options.findGood(hashes.map((hash) => Buffer.from(hash, 'hex')));
      const bad = hashes.filter((hash) => !good.has(hash));
      for (const stream of bad.flatMap((hash) => streamsOf.get(hash) ?? [])) stream.refuse();
    } catch (error) {
      this.#options.onCheckFailed(error); // without Postgres no stream gets events, and the next beat asks again
    } finally {
      this.#isChecking = false;
    }
  }
}

/** Of the token or session, in hex; null: the caller has none that Postgres knows. */
function hashOf(caller: Caller): string | null {
  return caller.kind === 'user' && caller.credential.kind === 'stored'
    ? caller.credential.hash.toString('hex')
    : null;
}

/** Whether a signed token has expired. */
function hasExpired(caller: Caller): boolean {
  return (
    caller.kind === 'user' &&
    caller.credential.kind === 'signed' &&
    caller.credential.expiresAtMs <= Date.now()
  );
}
