import { ConfigError } from './config/load-config.ts';
import type { Component } from './lifecycle.ts';
import { sleep } from './backoff.ts';

/** The start waits this long for the check, so that a problem is an error of the start. */
const START_WAIT_MS = 2000;

/**
 * A service that was started during an outage may not work for long with a dependency that nobody has
 * checked.
 */
const RETRY_MS = 1000;

/**
 * Refuses to run a service with what it finds at the first check that succeeds. Later changes are for a
 * metric to show.
 */
export class StartCheck implements Component {
  readonly name: string;
  readonly #options;
  readonly #startWaits = Promise.withResolvers<void>();
  readonly #stopping = new AbortController();
  #isStarted = false;
  #hasPassed = false;

  constructor(options: {
    readonly name: string;
    /**
     * Sentences that say what is wrong and what to do. A failure, for example of a dependency that does not
     * answer yet, is tried again.
     */
    readonly findProblems: () => Promise<readonly string[]>;
    /** Stops the service: called when a check after the start finds problems. */
    readonly fail: (error: ConfigError) => void;
  }) {
    this.name = options.name;
    this.#options = options;
  }

  /** @throws ConfigError when the check finds problems within 2 s */
  async start(): Promise<void> {
    const timer = setTimeout(() => this.#startWaits.resolve(), START_WAIT_MS);
    void this.#check();
    try {
      await this.#startWaits.promise;
    } finally {
      clearTimeout(timer);
      this.#isStarted = true;
    }
  }

  /** For the readiness of the service. */
  requirePassed(): void {
    if (!this.#hasPassed) throw new Error(`the ${this.name} have not been checked yet`);
  }

  /** Does not wait for a check that hangs. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#startWaits.resolve();
    return Promise.resolve();
  }

  async #check(): Promise<void> {
    const problems = await this.#untilFound();
    if (this.#stopping.signal.aborted) return;
    this.#hasPassed = problems.length === 0;
    const error = new ConfigError(problems);
    if (this.#hasPassed) this.#startWaits.resolve();
    else if (this.#isStarted) this.#options.fail(error);
    else this.#startWaits.reject(error);
  }

  async #untilFound(): Promise<readonly string[]> {
    for (;;) {
      try {
        return await this.#options.findProblems();
      } catch {
        await sleep(RETRY_MS, this.#stopping.signal); // the readiness check reports a dependency that does not answer
        if (this.#stopping.signal.aborted) return [];
      }
    }
  }
}
