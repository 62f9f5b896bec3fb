import type { Snapshot, Subscription } from '@pasteflow/postgres';
import { backoffMs } from '@pasteflow/runtime';

/** A client that waits for changes of one paste or job. */
export interface Watcher {
  readonly purpose: 'wait' | 'events' | 'content';
  readonly kind: Subscription['kind'];
  readonly id: string;
  /** What the next read includes for this client. null: nothing, until the watcher calls `readNow`. */
  wants(): Pick<Subscription, 'after'> | null;
  /** Called after each read that includes the client's wishes. null: the paste or job was removed. */
  onSnapshot(snapshot: Snapshot | null): void;
  /** Called when the process stops. */
  onStop(): void;
}

export interface ChangePollerOptions {
  readonly read: (subscriptions: readonly Subscription[]) => Promise<ReadonlyMap<string, Snapshot>>;
  /** How many clients may wait in this process. */
  readonly maxWatchers: number;
  readonly onCount: (purpose: Watcher['purpose'], count: number) => void;
  /** Called for each failed read, which is repeated. */
  readonly onReadFailed: (
    error: unknown,
    next: { readonly failures: number; readonly retryInMs: number },
  ) => void;
  readonly clock?: Clock;
}

/** A paste or job with the clients that wait for it. */
interface Watched {
  readonly watchers: Set<Watcher>;
  /** The state that the last read found; null before the first. */
  lastState: string | null;
}

/** The clients of a paste or job that want something of the next read. */
interface Wishes {
  readonly watched: Watched;
  readonly watchers: readonly Watcher[];
  readonly subscription: Subscription;
}

/**
 * Reads follow each other every 20 ms for a second after a client began to wait, or something changed: most
 * uploads end within that second. Later they follow every 80 ms. So `Prefer: wait` answers within 50 ms of
 * the settlement at the median.
 */
const FAST_MS = 20;
const FAST_FOR_MS = 1000;
const SLOW_MS = 80;

/**
 * The time from the end of a statement to the start of the next. 1,000 clients cost at most 20 statements a
 * second, whatever they wait for; the pause is 20 ms with up to 400 clients, and 500 ms with 10,000 and more.
 */
const pauseMs = (clients: number): number => Math.min(Math.max(clients * 0.05, FAST_MS), 500);

/** 0.1, 0.2, 0.4, 0.8, 1, 1 … s: a client that waits learns soon that Postgres is back. */
const BACKOFF = { firstMs: 100, capMs: 1000, jitter: 0.2 };

/**
 * Reads everything that the clients of this process wait for with one statement, again and again, and nothing
 * while no client waits. A client misses nothing, because a read always finds the current state and all
 * transitions since the client's last one.
 */
export class ChangePoller {
  readonly #options: ChangePollerOptions;
  readonly #clock: Clock;
  readonly #watched = new Map<string, Watched>();
  readonly #counts = { wait: 0, events: 0, content: 0 };
  #timer: { readonly at: number; readonly cancel: () => void } | null = null;
  #isReading = false;
  /** The earliest time of the next read. */
  #notBefore = -Infinity;
  #fastUntil = -Infinity;
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
    const watched = this.#watched.get(watcher.id) ?? { watchers: new Set(), lastState: null };
    this.#watched.set(watcher.id, watched);
    watched.watchers.add(watcher);
    this.#count(watcher.purpose, 1);
    this.#readWithin(FAST_MS);
    return true;
  }

  unwatch(watcher: Watcher): void {
    const watched = this.#watched.get(watcher.id);
    if (watched?.watchers.delete(watcher) !== true) return;
    this.#count(watcher.purpose, -1);
    if (watched.watchers.size === 0) this.#watched.delete(watcher.id);
    if (this.#watched.size === 0) this.#cancelTimer();
  }

  /** For a watcher that wants something again. */
  readNow(): void {
    this.#readWithin(0);
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

  #readWithin(ms: number): void {
    const now = this.#clock.now();
    this.#fastUntil = now + FAST_FOR_MS;
    this.#scheduleAt(Math.max(now + ms, this.#notBefore));
  }

  #scheduleAt(at: number): void {
    // The end of a read schedules the next one.
    if (this.#isReading || (this.#timer !== null && this.#timer.at <= at)) return;
    this.#cancelTimer();
    const cancel = this.#clock.after(Math.max(0, at - this.#clock.now()), () => void this.#readAll());
    this.#timer = { at, cancel };
  }

  #cancelTimer(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  async #readAll(): Promise<void> {
    this.#timer = null;
    const all = [...this.#watched].flatMap(([id, watched]) => wishesOf(id, watched) ?? []);
    if (all.length === 0) return; // until a watcher comes, or calls readNow
    this.#isReading = true;
    let waitMs: number;
    try {
      const found = await this.#options.read(all.map(({ subscription }) => subscription));
      this.#failures = 0;
      for (const wishes of all) this.#deliver(wishes, found.get(wishes.subscription.id) ?? null);
      waitMs = pauseMs(this.#clients);
    } catch (error) {
      this.#failures += 1;
      waitMs = backoffMs(BACKOFF, this.#failures, Math.random());
      this.#options.onReadFailed(error, { failures: this.#failures, retryInMs: waitMs });
    }
    this.#isReading = false;
    const now = this.#clock.now();
    this.#notBefore = now + waitMs;
    if (this.#watched.size > 0)
      this.#scheduleAt(now < this.#fastUntil ? this.#notBefore : now + Math.max(waitMs, SLOW_MS));
  }

  /** Informs only the watchers whose wishes were read: a watcher that came during the read may want more. */
  #deliver({ watched, watchers }: Wishes, snapshot: Snapshot | null): void {
    const state = stateOf(snapshot);
    if (state !== watched.lastState || (snapshot?.transitions.length ?? 0) > 0)
      this.#fastUntil = this.#clock.now() + FAST_FOR_MS;
    watched.lastState = state;
    for (const watcher of watchers) if (watched.watchers.has(watcher)) watcher.onSnapshot(snapshot);
  }
}

/** One subscription that is enough for all watchers of a paste or job. null: none of them wants anything. */
function wishesOf(id: string, watched: Watched): Wishes | null {
  const watchers: Watcher[] = [];
  let first: number | null = null;
  for (const watcher of watched.watchers) {
    const wants = watcher.wants();
    if (wants === null) continue;
    watchers.push(watcher);
    if (wants.after !== null) first = Math.min(first ?? Infinity, wants.after);
  }
  const [one] = watchers;
  if (one === undefined) return null;
  return { watched, watchers, subscription: { kind: one.kind, id, after: first } };
}

/** Equal texts: nothing has changed but for transitions. */
function stateOf(snapshot: Snapshot | null): string {
  return JSON.stringify([snapshot?.status, snapshot?.gone, snapshot?.progress]);
}

/** The time of a process. Tests pass their own. */
export interface Clock {
  /** Milliseconds; never goes back. */
  now(): number;
  /** Calls `run` once, after `ms` milliseconds. */
  after(ms: number, run: () => void): () => void;
}

const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
