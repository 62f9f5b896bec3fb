import type { Snapshot, Subscription } from '@pasteflow/postgres';
import { backoffMs } from '@pasteflow/runtime';
import { systemClock, type CancelTimer, type Clock } from './clock.ts';

/** A client that waits for changes of one paste or job. */
export interface Watcher {
  readonly purpose: 'wait' | 'events' | 'content';
  readonly kind: Subscription['kind'];
  readonly id: string;
  /** What the next read includes for this client. null: nothing, until the watcher calls `readNow`. */
  wants(): Pick<Subscription, 'after' | 'row'> | null;
  /** Called after each read. null: the paste or job was removed. */
  onSnapshot(snapshot: Snapshot | null): void;
  /** Called for each failed read. The read is repeated. */
  onReadFailed(error: unknown): void;
  /** Called when the process stops. */
  onStop(): void;
}

export interface ChangePollerOptions {
  readonly read: (subscriptions: readonly Subscription[]) => Promise<ReadonlyMap<string, Snapshot>>;
  /** How many clients may wait in this process. */
  readonly maxWatchers: number;
  readonly onCount: (purpose: Watcher['purpose'], count: number) => void;
  /** Called for each failed read. */
  readonly onReadFailed: (
    error: unknown,
    next: { readonly failures: number; readonly retryInMs: number },
  ) => void;
  readonly clock?: Clock;
}

/** A paste or job with the clients that wait for it. */
interface Watched {
  readonly kind: Subscription['kind'];
  readonly id: string;
  readonly watchers: Set<Watcher>;
  /** When a client began to wait for it, or a read found a change. */
  changedAt: number;
  /** The time of the next read; Infinity: during a read, and while no client wants anything. */
  dueAt: number;
  /** The state that the last read found; null before the first. */
  lastState: string | null;
}

interface WatchedRead {
  readonly watched: Watched;
  readonly wishes: readonly {
    readonly watcher: Watcher;
    readonly wants: Pick<Subscription, 'after' | 'row'>;
  }[];
}

type Outcome = 'done' | 'postponed' | 'failed';

/**
 * A paste or job is read every 20 ms for a second after a client began to wait for it, or it changed: most
 * uploads end within that second. Later it is read every 80 ms. So `Prefer: wait` answers within 50 ms of the
 * settlement at the median.
 */
const FAST_MS = 20;
const FAST_FOR_MS = 1000;
const SLOW_MS = 80;

/**
 * The time from the end of a statement to the start of the next. 1,000 clients cost at most 20 statements a
 * second, whatever they wait for; the pause is 20 ms with up to 400 clients, and 500 ms with 10,000 and more.
 */
const pauseMs = (clients: number): number => Math.min(Math.max(clients * 0.05, 20), 500);

/**
 * When the rows are too long for one read, the next reads follow without a pause, each of at most this many
 * pastes and jobs: the rows that had no room are requested again each time.
 */
const MAX_READ_OF_LONG_ROWS = 200;

/** 0.1, 0.2, 0.4, 0.8, 1, 1 … s: a client that waits learns soon that Postgres is back. */
const BACKOFF = { firstMs: 100, capMs: 1000, jitter: 0.2 };

/**
 * Reads the changes that the clients of this process wait for: everything that is due with one statement, and
 * nothing while no client waits. A client misses nothing, because a read always finds the current state and
 * all transitions since the client's last one.
 */
export class ChangePoller {
  readonly #options: ChangePollerOptions;
  readonly #clock: Clock;
  readonly #watched = new Map<string, Watched>();
  readonly #counts = { wait: 0, events: 0, content: 0 };
  #timer: { readonly at: number; readonly cancel: CancelTimer } | null = null;
  #isReading = false;
  /** The earliest time of the next read. */
  #notBefore = -Infinity;
  #maxRead = Infinity;
  #failures = 0;
  #isStopping = false;

  constructor(options: ChangePollerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /**
   * @returns false when too many clients wait, or the process stops. After true, call `unwatch` in the end.
   */
  watch(watcher: Watcher): boolean {
    if (this.#isStopping || this.#clients >= this.#options.maxWatchers) return false;
    const { kind, id, purpose } = watcher;
    const watched = this.#watched.get(id) ?? newWatched(kind, id);
    this.#watched.set(id, watched);
    watched.watchers.add(watcher);
    this.#count(purpose, 1);
    this.#readWithin(watched, FAST_MS);
    return true;
  }

  unwatch(watcher: Watcher): void {
    const watched = this.#watched.get(watcher.id);
    if (watched?.watchers.delete(watcher) !== true) return;
    this.#count(watcher.purpose, -1);
    if (watched.watchers.size === 0) this.#watched.delete(watcher.id);
    if (this.#watched.size === 0) this.#cancelTimer();
  }

  /** Makes the watcher's paste or job due. */
  readNow(watcher: Watcher): void {
    const watched = this.#watched.get(watcher.id);
    if (watched !== undefined) this.#readWithin(watched, 0);
  }

  /** Stops all watchers, and admits no new ones. */
  stop(): void {
    this.#isStopping = true;
    for (const { watchers } of this.#watched.values()) for (const watcher of watchers) watcher.onStop();
  }

  get #clients(): number {
    return this.#counts.wait + this.#counts.events + this.#counts.content;
  }

  #count(purpose: Watcher['purpose'], difference: number): void {
    this.#counts[purpose] += difference;
    this.#options.onCount(purpose, this.#counts[purpose]);
  }

  #readWithin(watched: Watched, ms: number): void {
    watched.changedAt = this.#clock.now();
    watched.dueAt = Math.min(watched.dueAt, watched.changedAt + ms);
    this.#scheduleAt(watched.dueAt);
  }

  #scheduleAt(dueAt: number): void {
    if (this.#isReading || dueAt === Infinity) return; // the end of a read schedules the next one
    const at = Math.max(dueAt, this.#notBefore);
    if (this.#timer !== null && this.#timer.at <= at) return;
    this.#cancelTimer();
    const cancel = this.#clock.after(Math.max(0, at - this.#clock.now()), () => void this.#readDue());
    this.#timer = { at, cancel };
  }

  #cancelTimer(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  async #readDue(): Promise<void> {
    this.#timer = null;
    this.#isReading = true;
    const taken = this.#takeDue();
    const outcome = await this.#read(taken);
    const isLong = outcome === 'postponed' || taken.length === this.#maxRead;
    this.#maxRead = isLong ? MAX_READ_OF_LONG_ROWS : Infinity;
    if (outcome !== 'failed') this.#notBefore = this.#clock.now() + (isLong ? 0 : pauseMs(this.#clients));
    this.#isReading = false;
    let nextAt = Infinity;
    for (const { dueAt } of this.#watched.values()) nextAt = Math.min(nextAt, dueAt);
    this.#scheduleAt(nextAt);
  }

  /**
   * Takes each up to half of its interval early, so that those whose clients came at different times share a
   * statement.
   */
  #takeDue(): readonly Watched[] {
    const now = this.#clock.now();
    const due = [...this.#watched.values()].filter(
      (watched) => watched.dueAt - intervalMs(watched, now) / 2 <= now,
    );
    const taken =
      due.length <= this.#maxRead ? due : due.toSorted((a, b) => a.dueAt - b.dueAt).slice(0, this.#maxRead);
    for (const watched of taken) watched.dueAt = Infinity;
    return taken;
  }

  async #read(taken: readonly Watched[]): Promise<Outcome> {
    const reads = taken.map(wishesOf).filter(({ wishes }) => wishes.length > 0);
    if (reads.length === 0) return 'done';
    try {
      const found = await this.#options.read(reads.map(subscriptionOf));
      this.#failures = 0;
      return this.#deliver(reads, found);
    } catch (error) {
      this.#fail(reads, error);
      return 'failed';
    }
  }

  /** Informs only the watchers whose wishes were read: a watcher that came during the read may want more. */
  #deliver(reads: readonly WatchedRead[], found: ReadonlyMap<string, Snapshot>): Outcome {
    let outcome: Outcome = 'done';
    for (const { watched, wishes } of reads) {
      const snapshot = found.get(watched.id) ?? null;
      if (snapshot?.postponed === true) outcome = 'postponed';
      this.#scheduleNext(watched, snapshot);
      for (const { watcher } of wishes) if (watched.watchers.has(watcher)) watcher.onSnapshot(snapshot);
    }
    return outcome;
  }

  #scheduleNext(watched: Watched, snapshot: Snapshot | null): void {
    const state = stateOf(snapshot);
    const hasChanged = state !== watched.lastState || (snapshot?.transitions.length ?? 0) > 0;
    watched.lastState = state;
    const now = this.#clock.now();
    if (hasChanged) watched.changedAt = now;
    if (snapshot?.postponed === true) {
      watched.dueAt = -Infinity; // before everything else, or its turn might never come
      return;
    }
    const waitMs = snapshot?.complete === false ? 0 : intervalMs(watched, now);
    watched.dueAt = Math.min(watched.dueAt, now + waitMs); // a client may have come during the read
  }

  #fail(reads: readonly WatchedRead[], error: unknown): void {
    this.#failures += 1;
    const retryInMs = backoffMs(BACKOFF, this.#failures, Math.random());
    const now = this.#clock.now();
    this.#notBefore = now + retryInMs;
    this.#options.onReadFailed(error, { failures: this.#failures, retryInMs });
    for (const { watched, wishes } of reads) {
      watched.dueAt = now;
      for (const { watcher } of wishes) if (watched.watchers.has(watcher)) watcher.onReadFailed(error);
    }
  }
}

function intervalMs({ changedAt }: Watched, now: number): number {
  return now - changedAt < FAST_FOR_MS ? FAST_MS : SLOW_MS;
}

function newWatched(kind: Subscription['kind'], id: string): Watched {
  return {
    kind,
    id,
    watchers: new Set(),
    changedAt: -Infinity,
    dueAt: Infinity,
    lastState: null,
  };
}

function wishesOf(watched: Watched): WatchedRead {
  const wishes = [...watched.watchers].flatMap((watcher) => {
    const wants = watcher.wants();
    return wants === null ? [] : [{ watcher, wants }];
  });
  return { watched, wishes };
}

/** Enough for all watchers of a paste or job. */
function subscriptionOf({ watched: { kind, id }, wishes }: WatchedRead): Subscription {
  const afters = wishes.flatMap(({ wants: { after } }) => (after === null ? [] : [after]));
  const rows = new Set(wishes.map(({ wants: { row } }) => row));
  return {
    kind,
    id,
    after: afters.length === 0 ? null : afters.reduce((first, after) => Math.min(first, after)),
    row: rows.has('always') ? 'always' : rows.has('at the end') ? 'at the end' : 'never',
  };
}

/** Equal texts: nothing has changed but for transitions. */
function stateOf(snapshot: Snapshot | null): string {
  if (snapshot === null) return 'removed';
  const { status, gone, progress } = snapshot;
  return JSON.stringify([status, gone, progress]);
}
