import { backoffMs, defaultBackoff, sleep, type Backoff, type Sleep } from './backoff.ts';
import type { Component } from './lifecycle.ts';
import type { LogFields, Logger } from './logging/logger.ts';

/** Runs passes one after the other until `stop()`. */
export class PollLoop {
  readonly name: string;
  readonly #options;
  readonly #stopping = new AbortController();
  /** Ends the current wait; replaced for each wait. */
  #waiting = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(options: {
    readonly name: string;
    /** From the end of a pass to the start of the next. */
    readonly intervalMs: number;
    /** The wait before the first pass. A random wait spreads processes that start together. Default: 0. */
    readonly firstDelayMs?: number;
    /** Runs one pass. `stop()` aborts the signal; a pass that cannot end early may ignore the signal. */
    readonly run: (signal: AbortSignal) => Promise<void>;
    /**
     * Called for each failed pass, with the wait before the next one. Must not throw. Not called for a pass
     * that fails during `stop()`.
     */
    readonly onError: (
      error: unknown,
      next: { readonly failures: number; readonly retryInMs: number },
    ) => void;
    /** Replaces the interval after a failure. */
    readonly backoff?: Backoff;
    readonly random?: () => number;
    readonly sleep?: Sleep;
  }) {
    this.name = options.name;
    this.#options = options;
  }

  start(): Promise<void> {
    if (this.#loop !== undefined) throw new Error(`The poll loop ${this.name} is already started.`);
    this.#loop = this.#run();
    return Promise.resolve();
  }

  /** Resolves when the current pass, if any, has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#waiting.abort();
    await this.#loop;
  }

  /**
   * Ends the current wait, so that a pass starts now. During a pass, the next pass follows without a wait.
   */
  wake(): void {
    this.#waiting.abort();
  }

  async #run(): Promise<void> {
    let failures = 0;
    let waitMs = this.#options.firstDelayMs ?? 0;
    for (;;) {
      await this.#wait(waitMs);
      if (this.#stopping.signal.aborted) return;
      this.#waiting = new AbortController();
      try {
        await this.#options.run(this.#stopping.signal);
        failures = 0;
        waitMs = this.#options.intervalMs;
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        failures += 1;
        waitMs = this.#failed(error, failures);
      }
    }
  }

  #failed(error: unknown, failures: number): number {
    const { backoff = defaultBackoff, random = Math.random } = this.#options;
    const retryInMs = backoffMs(backoff, failures, random());
    this.#options.onError(error, { failures, retryInMs });
    return retryInMs;
  }

  /** Returns at once when `wake()` was called during the last pass, which aborted the signal. */
  async #wait(ms: number): Promise<void> {
    const { signal } = this.#waiting;
    if (ms > 0 && !signal.aborted) await (this.#options.sleep ?? sleep)(ms, signal);
  }
}

const ONE_DAY_MS = 86_400_000;

/**
 * Looks at the start and once a day for something that an operator should change. Neither the start nor the
 * stop of the service waits for it.
 */
export function warnDaily({
  name,
  message,
  find,
  logger,
}: {
  readonly name: string;
  readonly message: string;
  /**
   * The fields of the warning; null: nothing to warn of. A failure is not reported: the next try follows
   * soon.
   */
  readonly find: () => Promise<LogFields | null>;
  readonly logger: Logger;
}): Component {
  return new PollLoop({
    name,
    intervalMs: ONE_DAY_MS,
    run: async (signal) => {
      const fields = await Promise.race([find(), nullWhenAborted(signal)]);
      if (fields !== null) logger.warn(message, fields);
    },
    onError: () => {},
  });
}

function nullWhenAborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
}
