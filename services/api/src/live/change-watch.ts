import type { Changes, Seen, Wanted } from '@pasteflow/postgres';
import { sleep } from '@pasteflow/runtime';

/** Somebody who waits for news of one paste or job. */
export interface Watcher {
  readonly purpose: 'wait' | 'events';
  readonly kind: Wanted['kind'];
  readonly id: string;
  /** What it wants of the next look; null: nothing for now. */
  wants(): Pick<Wanted, 'after' | 'row'> | null;
  /** What a look found; null: it has been removed. */
  seen(seen: Seen | null): void;
  /** Postgres didn't answer; it is asked again. */
  failed(error: unknown): void;
  /** The process stops. */
  stop(): void;
}

export interface ChangeWatchOptions {
  readonly look: (wanted: readonly Wanted[]) => Promise<ReadonlyMap<string, Seen>>;
  /** How many may wait in this process. */
  readonly maxWatchers: number;
  readonly onCount: (purpose: Watcher['purpose'], count: number) => void;
}

/** All that watch one paste or job. */
interface Subject {
  readonly kind: Wanted['kind'];
  readonly id: string;
  readonly watchers: Set<Watcher>;
}

/** From one look to the next: what changes meanwhile is looked at together, and a process makes at most 50 statements a second of it. */
const LOOK_INTERVAL_MS = 20;

/**
 * Once rows are so long that one look hasn't room for all, looks follow one another at once, and each is at no more than so many: what is
 * postponed is looked at again each time.
 */
const MAX_WHEN_LONG = 200;

/** After a look that failed. */
const RETRY_MS = 1000;

/** Ids of changes that are remembered for those who are just reading. */
const MAX_RECENT = 10_000;

/**
 * Who waits for what in this process. A change wakes all that wait for it, and what they are told is read by one statement for all that has
 * changed, however many wait: at most LOOK_INTERVAL_MS goes by before it, and nothing is read while nothing changes.
 */
export class ChangeWatch {
  readonly #options: ChangeWatchOptions;
  readonly #subjects = new Map<string, Subject>();
  readonly #counts = { wait: 0, events: 0 };
  /** To be looked at. */
  #changed = new Set<Subject>();
  #looking = false;
  #lookAfter = 0;
  #stopping = false;
  /** A count of all changes, and at which count something changed last, while somebody reads. */
  #clock = 0;
  #allChangedAt = 0;
  readonly #changedAt = new Map<string, number>();
  #readers = 0;

  constructor(options: ChangeWatchOptions) {
    this.#options = options;
  }

  /**
   * For a read before a watch: a change after it isn't missed, though what changes is known by its id only after the read. `since` is for
   * `watch`, which has to be called before the function ends.
   */
  async reading<T>(read: (since: number) => Promise<T>): Promise<T> {
    this.#readers += 1;
    try {
      return await read(this.#clock);
    } finally {
      this.#readers -= 1;
      if (this.#readers === 0) this.#changedAt.clear();
    }
  }

  /** @returns false when there are too many already, or the process stops; `unwatch` is due if it is true */
  watch(watcher: Watcher, since: number): boolean {
    const { kind, id, purpose } = watcher;
    if (this.#stopping || this.#counts.wait + this.#counts.events >= this.#options.maxWatchers) return false;
    const subject = this.#subjects.get(id) ?? { kind, id, watchers: new Set() };
    this.#subjects.set(id, subject);
    subject.watchers.add(watcher);
    this.#count(purpose, 1);
    if (this.#allChangedAt > since || (this.#changedAt.get(id) ?? 0) > since) this.#lookAt(subject);
    return true;
  }

  unwatch(watcher: Watcher): void {
    const subject = this.#subjects.get(watcher.id);
    if (subject?.watchers.delete(watcher) !== true) return;
    this.#count(watcher.purpose, -1);
    if (subject.watchers.size === 0) this.#subjects.delete(watcher.id);
  }

  /** It wants a look, changed or not. */
  wake(watcher: Watcher): void {
    const subject = this.#subjects.get(watcher.id);
    if (subject !== undefined) this.#lookAt(subject);
  }

  changed(changes: Changes): void {
    this.#clock += 1;
    if (changes === 'all') {
      this.#allChangedAt = this.#clock;
      for (const subject of this.#subjects.values()) this.#lookAt(subject);
      return;
    }
    for (const id of changes) {
      if (this.#readers > 0) this.#changedAt.set(id, this.#clock);
      const subject = this.#subjects.get(id);
      if (subject !== undefined) this.#lookAt(subject);
    }
    if (this.#changedAt.size > MAX_RECENT) {
      this.#changedAt.clear();
      this.#allChangedAt = this.#clock;
    }
  }

  /** Sends everybody home, and lets nobody in any more. */
  stop(): void {
    this.#stopping = true;
    for (const { watchers } of this.#subjects.values()) for (const watcher of watchers) watcher.stop();
  }

  #count(purpose: Watcher['purpose'], difference: number): void {
    this.#counts[purpose] += difference;
    this.#options.onCount(purpose, this.#counts[purpose]);
  }

  #lookAt(subject: Subject): void {
    this.#changed.add(subject);
    if (this.#looking) return;
    this.#looking = true;
    void this.#lookWhileChanged();
  }

  async #lookWhileChanged(): Promise<void> {
    const { signal } = new AbortController();
    let most = Infinity;
    while (this.#changed.size > 0) {
      // Also without a wait: what changes in this turn of the event loop is looked at together.
      await sleep(Math.max(0, this.#lookAfter - performance.now()), signal);
      const subjects = [...this.#changed].slice(0, most);
      for (const subject of subjects) this.#changed.delete(subject);
      const outcome = await this.#look(subjects);
      const isLong = outcome === 'postponed' || subjects.length === most;
      most = isLong ? MAX_WHEN_LONG : Infinity;
      const pauseMs = outcome === 'failed' ? RETRY_MS : isLong ? 0 : LOOK_INTERVAL_MS;
      this.#lookAfter = performance.now() + pauseMs;
    }
    this.#looking = false;
  }

  /** Tells only those that were asked what they want: who comes meanwhile may want more than this look has. */
  async #look(subjects: readonly Subject[]): Promise<'done' | 'postponed' | 'failed'> {
    const asked = subjects.flatMap((subject) => {
      const wishes = [...subject.watchers].flatMap((watcher) => {
        const wants = watcher.wants();
        return wants === null ? [] : [{ watcher, wants }];
      });
      return wishes.length === 0 ? [] : [{ subject, wishes }];
    });
    if (asked.length === 0) return 'done';
    try {
      const found = await this.#options.look(
        asked.map(({ subject: { kind, id }, wishes }) => ({ kind, id, ...together(wishes) })),
      );
      const postponed = asked.filter(({ subject }) => found.get(subject.id)?.postponed === true);
      // Before those that have changed meanwhile: else it might never be their turn.
      this.#changed = new Set([...postponed.map(({ subject }) => subject), ...this.#changed]);
      for (const { subject, wishes } of asked) {
        const seen = found.get(subject.id) ?? null;
        if (seen?.complete === false) this.#changed.add(subject);
        for (const { watcher } of wishes) if (subject.watchers.has(watcher)) watcher.seen(seen);
      }
      return postponed.length > 0 ? 'postponed' : 'done';
    } catch (error) {
      for (const { subject, wishes } of asked) {
        this.#changed.add(subject);
        for (const { watcher } of wishes) if (subject.watchers.has(watcher)) watcher.failed(error);
      }
      return 'failed';
    }
  }
}

/** Enough for each of them. */
function together(
  wishes: readonly { readonly wants: Pick<Wanted, 'after' | 'row'> }[],
): Pick<Wanted, 'after' | 'row'> {
  const afters = wishes.flatMap(({ wants: { after } }) => (after === null ? [] : [after]));
  const rows = new Set(wishes.map(({ wants: { row } }) => row));
  return {
    after: afters.length === 0 ? null : Math.min(...afters),
    row: rows.has('always') ? 'always' : rows.has('at the end') ? 'at the end' : 'never',
  };
}
