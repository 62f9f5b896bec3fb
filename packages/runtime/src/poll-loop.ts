import { backoffMs, defaultBackoff, type Backoff } from './backoff.ts';
import { sleep, type Sleep } from './sleep.ts';

export interface PollLoopOptions {
  readonly name: string;
  /** From the end of a pass to the start of the next. */
  readonly intervalMs: number;
  /** Wait before the first pass, 0 unless told: a random one spreads many processes that start together. */
  readonly firstDelayMs?: number;
  /** One pass. Its signal is aborted by `stop()`; a pass that can't end early may ignore it. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** Told of a failed pass and of the wait before the next; it must not throw. A pass that fails while stopping isn't reported. */
  readonly onError: (error: unknown, next: { readonly failures: number; readonly retryInMs: number }) => void;
  /** Replaces the interval after a failure. */
  readonly backoff?: Backoff;
  readonly random?: () => number;
  readonly sleep?: Sleep;
}

/** Runs passes one after the other until it is stopped: the only poll loop in the repository. */
export class PollLoop {
  readonly name: string;
  readonly #options: PollLoopOptions;
  readonly #stopping = new AbortController();
  /** Ends the current wait; replaced for each wait. */
  #waiting = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(options: PollLoopOptions) {
    this.name = options.name;
    this.#options = options;
  }

  start(): Promise<void> {
    if (this.#loop !== undefined) throw new Error(`the poll loop ${this.name} was started before`);
    this.#loop = this.#run();
    return Promise.resolve();
  }

  /** Resolves when the pass that runs, if any, has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#waiting.abort();
    await this.#loop;
  }

  /** Runs a pass now instead of after the wait; during a pass, another right after it. */
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

  /** A wake during the last pass has aborted the signal already, and then there is no wait. */
  async #wait(ms: number): Promise<void> {
    const { signal } = this.#waiting;
    if (ms > 0 && !signal.aborted) await (this.#options.sleep ?? sleep)(ms, signal);
  }
}
