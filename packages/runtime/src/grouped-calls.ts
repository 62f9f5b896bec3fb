import { runOutsideSpans } from './tracing/spans.ts';

export interface GroupedCallsOptions<Item, Result> {
  /** Handles all items in one statement or transaction. Returns a result for each item, in their order. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Default: 0. */
  readonly bytesOf?: (item: Item) => number;
  /**
   * Whether a group that failed with this error has changed nothing, so that each item may be run alone.
   * Default: never.
   */
  readonly canRunAlone?: (error: unknown) => boolean;
  /** The error of a call that is refused before it runs. */
  readonly refusal: () => Error;
  /** Default: SLOW_MS. */
  readonly slowMs?: number | undefined;
}

/** Groups of 50 are twice as fast as single statements, and larger ones hardly faster. */
const MAX_ITEMS = 64;
const MAX_BYTES = 1024 * 1024;

/**
 * A group takes some milliseconds. One that takes longer than this waits for a slow disk or on a dead
 * connection, and the next group starts beside it. At most MAX_RUNNING groups run at once, and leave the
 * other connections of the pool (10 by default) to other requests.
 */
const SLOW_MS = 250;
const MAX_RUNNING = 4;

/** As long as a request waits for a connection of the pool. */
const MAX_WAIT_MS = 5000;

/**
 * About as many as an api has connections (MAX_CONNECTIONS is 12,000 by default), and the work of some
 * seconds.
 */
const MAX_WAITING = 10_000;

interface Call<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  readonly refusal: NodeJS.Timeout;
}

/**
 * Runs calls together: those that arrive while a group is under way form the next group, in the order of
 * their arrival. When nothing is under way a call starts at once, alone. A call never joins a group that has
 * started, so that what it reads is not older than the call.
 */
export class GroupedCalls<Item, Result> {
  readonly #options: GroupedCallsOptions<Item, Result>;
  /** In the order of their arrival. */
  readonly #waiting: Call<Item, Result>[] = [];
  #running = 0;
  /** Of those, the groups that are not slow yet. */
  #prompt = 0;
  /**
   * Calls of failed groups that run alone. Meanwhile new calls run alone, too: the same item may make the
   * next group fail.
   */
  #alone = 0;
  #isStopped = false;

  constructor(options: GroupedCallsOptions<Item, Result>) {
    this.#options = options;
  }

  /** @throws the refusal when too many calls wait, when a call has waited for 5 s, and after the stop */
  async call(item: Item): Promise<Result> {
    if (this.#isStopped || this.#waiting.length >= MAX_WAITING) throw this.#options.refusal();
    if (this.#alone > 0) return await this.#runAlone(item);
    return await new Promise((resolve, reject) => {
      const refusal = setTimeout(() => this.#refuse(call), MAX_WAIT_MS);
      const call = { item, resolve, reject, refusal };
      this.#waiting.push(call);
      this.#startNext();
    });
  }

  /** Refuses the calls that wait. Those that run are completed. */
  stop(): void {
    this.#isStopped = true;
    for (const call of this.#waiting.slice()) this.#refuse(call);
  }

  #refuse(call: Call<Item, Result>): void {
    clearTimeout(call.refusal);
    this.#waiting.splice(this.#waiting.indexOf(call), 1);
    call.reject(this.#options.refusal());
  }

  #startNext(): void {
    if (this.#waiting.length === 0 || this.#prompt > 0 || this.#running >= MAX_RUNNING) return;
    this.#running += 1;
    this.#prompt += 1;
    let isPrompt = true;
    const noLongerPrompt = (): void => {
      if (isPrompt) this.#prompt -= 1;
      isPrompt = false;
      this.#startNext();
    };
    const slow = setTimeout(noLongerPrompt, this.#options.slowMs ?? SLOW_MS);
    void this.#run(this.#takeGroup()).finally(() => {
      clearTimeout(slow);
      this.#running -= 1;
      noLongerPrompt();
    });
  }

  #takeGroup(): Call<Item, Result>[] {
    const { bytesOf = () => 0 } = this.#options;
    let bytes = 0;
    let items = 0;
    for (const call of this.#waiting) {
      bytes += bytesOf(call.item);
      if (items > 0 && (items >= MAX_ITEMS || bytes > MAX_BYTES)) break;
      items += 1;
    }
    const group = this.#waiting.splice(0, items);
    for (const call of group) clearTimeout(call.refusal);
    return group;
  }

  /** Never rejects. */
  async #run(group: readonly Call<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#runItems(group.map(({ item }) => item));
      for (const [n, call] of group.entries()) call.resolve(results[n] as Result);
    } catch (error) {
      if (group.length === 1 || this.#options.canRunAlone?.(error) !== true) {
        for (const call of group) call.reject(error);
        return;
      }
      for (const { item, resolve, reject } of group) this.#runAlone(item).then(resolve, reject);
    }
  }

  async #runAlone(item: Item): Promise<Result> {
    this.#alone += 1;
    try {
      const [result] = await this.#runItems([item]);
      return result as Result;
    } finally {
      this.#alone -= 1;
    }
  }

  /** Outside of the span of the request that happens to start the group. */
  #runItems(items: readonly Item[]): Promise<readonly Result[]> {
    return runOutsideSpans(() => this.#options.run(items));
  }
}
