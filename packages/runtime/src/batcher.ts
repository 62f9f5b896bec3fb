import { outsideSpans } from './tracing/spans.ts';

export interface BatcherOptions<Item, Result> {
  /** Handles all items by one statement or request. Returns a result for each item, in their order. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** The most items of a batch. A batch that has them waits no longer. */
  readonly maxItems: number;
  /** The most bytes of a batch, save of one with a single item. Default: any number. */
  readonly maxBytes?: number;
  /** Default: 0. */
  readonly bytesOf?: (item: Item) => number;
  /** How long the first call of a batch waits for others, in ms. Default: it starts at once. */
  readonly lingerMs?: number | (() => number);
  /** Whether no other call can come at the moment, so that a batch need not wait. Default: one always can. */
  readonly isLast?: () => boolean;
  /** How many batches run at once. Default: any number. */
  readonly maxRunning?: number;
  /**
   * With it, the calls that arrive while a batch runs form the next one, which starts when that has ended, or
   * has run for so many ms: then it waits for a slow disk or on a dead connection.
   */
  readonly slowMs?: number | undefined;
  /** How many calls may wait. Further ones are refused. Default: any number. */
  readonly maxWaiting?: number;
  /** How long a call may wait, in ms, until it is refused. Default: for ever. */
  readonly maxWaitMs?: number;
  /** The error of a call that is refused before it runs. */
  readonly refusal?: () => Error;
  /**
   * Whether a batch that failed with this error has changed nothing, so that each item may be run alone.
   * Default: never.
   */
  readonly canRunAlone?: (error: unknown) => boolean;
}

interface Call<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  readonly refusal: NodeJS.Timeout | undefined;
}

/**
 * Runs calls together, in the order of their arrival. A call never joins a batch that has started, so that
 * what it reads is not older than the call.
 */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>;
  /** Outside of the span of the request that happens to start the batch. */
  readonly #runItems: BatcherOptions<Item, Result>['run'];
  /** In the order of their arrival. */
  readonly #waiting: Call<Item, Result>[] = [];
  #lingering: NodeJS.Timeout | undefined;
  #running = 0;
  /** Of those, the batches that are not slow yet. */
  #prompt = 0;
  /**
   * Calls of failed batches that run alone. Meanwhile new calls run alone, too: the same item may make the
   * next batch fail.
   */
  #alone = 0;
  #isStopped = false;
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
    this.#runItems = outsideSpans(options.run);
  }

  /** @throws the refusal when too many calls wait, when the call has waited too long, and after `refuseAll` */
  async call(item: Item): Promise<Result> {
    const { maxWaiting = Infinity, maxWaitMs } = this.#options;
    if (this.#isStopped || this.#waiting.length >= maxWaiting) throw this.#refusal();
    if (this.#alone > 0) return await this.#runAlone(item);
    return await new Promise((resolve, reject) => {
      const refusal = maxWaitMs === undefined ? undefined : setTimeout(() => this.#refuse(call), maxWaitMs);
      const call = { item, resolve, reject, refusal };
      this.#waiting.push(call);
      if (this.#waitsForOthers()) this.#lingering ??= setTimeout(() => this.#start(), this.#lingerMs());
      else this.#start();
    });
  }

  /** For a stop: refuses the calls that wait, and further ones. Those that run are completed. */
  refuseAll(): void {
    this.#isStopped = true;
    for (const call of this.#waiting.slice()) this.#refuse(call);
  }

  /** For a stop: runs the calls that wait without waiting for others, and resolves when every call has ended. */
  async drain(): Promise<void> {
    this.#start();
    if (this.#hasEnded()) return;
    this.#drained ??= Promise.withResolvers();
    await this.#drained.promise;
  }

  #lingerMs(): number {
    const { lingerMs = 0 } = this.#options;
    return typeof lingerMs === 'number' ? lingerMs : lingerMs();
  }

  #waitsForOthers(): boolean {
    const { isLast = () => false, maxItems } = this.#options;
    return this.#lingerMs() > 0 && this.#waiting.length < maxItems && !this.#isFullOfBytes() && !isLast();
  }

  #isFullOfBytes(): boolean {
    const { bytesOf, maxBytes = Infinity } = this.#options;
    return (
      bytesOf !== undefined && this.#waiting.reduce((sum, { item }) => sum + bytesOf(item), 0) >= maxBytes
    );
  }

  #refusal(): Error {
    return this.#options.refusal?.() ?? new Error('Too many calls are waiting, or the process stops.');
  }

  #refuse(call: Call<Item, Result>): void {
    clearTimeout(call.refusal);
    this.#waiting.splice(this.#waiting.indexOf(call), 1);
    call.reject(this.#refusal());
    this.#noteEnd();
  }

  /** Starts as many batches as may run. */
  #start(): void {
    const { maxRunning = Infinity, slowMs } = this.#options;
    clearTimeout(this.#lingering);
    this.#lingering = undefined;
    while (
      this.#waiting.length > 0 &&
      this.#running < maxRunning &&
      (slowMs === undefined || this.#prompt === 0)
    )
      this.#startOne(slowMs);
  }

  #startOne(slowMs: number | undefined): void {
    this.#running += 1;
    this.#prompt += 1;
    let isPrompt = true;
    const noLongerPrompt = (): void => {
      if (isPrompt) this.#prompt -= 1;
      isPrompt = false;
      // With the timer, what waits has not waited for this batch.
      if (this.#lingering === undefined) this.#start();
    };
    const slow = slowMs === undefined ? undefined : setTimeout(noLongerPrompt, slowMs);
    void this.#run(this.#takeBatch()).finally(() => {
      clearTimeout(slow);
      this.#running -= 1;
      noLongerPrompt();
      this.#noteEnd();
    });
  }

  #takeBatch(): Call<Item, Result>[] {
    const { bytesOf = () => 0, maxItems, maxBytes = Infinity } = this.#options;
    let bytes = 0;
    let items = 0;
    for (const call of this.#waiting) {
      bytes += bytesOf(call.item);
      if (items > 0 && (items >= maxItems || bytes > maxBytes)) break;
      items += 1;
    }
    const batch = this.#waiting.splice(0, items);
    for (const call of batch) clearTimeout(call.refusal);
    return batch;
  }

  /** Never rejects. */
  async #run(batch: readonly Call<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#runItems(batch.map(({ item }) => item));
      for (const [n, call] of batch.entries()) call.resolve(results[n] as Result);
    } catch (error) {
      if (batch.length === 1 || this.#options.canRunAlone?.(error) !== true) {
        for (const call of batch) call.reject(error);
        return;
      }
      for (const { item, resolve, reject } of batch) this.#runAlone(item).then(resolve, reject);
    }
  }

  async #runAlone(item: Item): Promise<Result> {
    this.#alone += 1;
    try {
      const [result] = await this.#runItems([item]);
      return result as Result;
    } finally {
      this.#alone -= 1;
      this.#noteEnd();
    }
  }

  #hasEnded(): boolean {
    return this.#waiting.length === 0 && this.#running === 0 && this.#alone === 0;
  }

  #noteEnd(): void {
    if (!this.#hasEnded()) return;
    this.#drained?.resolve();
    this.#drained = undefined;
  }
}
