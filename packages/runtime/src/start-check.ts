import { ConfigError } from './config/load-config.ts';
import type { Component } from './lifecycle/component.ts';
import { PollLoop } from './poll-loop.ts';
import { sleep } from './sleep.ts';

/** The start waits this long for the first check, so that a problem is an error of the start. */
const FIRST_CHECK_MS = 2000;

const ONE_DAY_MS = 86_400_000;

export interface StartCheckOptions {
  readonly name: string;
  /** Sentences that say what is wrong and what to do. A failure, for example of a dependency that does not answer yet, is tried again. */
  readonly findProblems: () => Promise<readonly string[]>;
  /** Stops the service: called when a check that succeeds after the start finds problems. */
  readonly fail: (error: ConfigError) => void;
}

/** Refuses to start a service with what it finds at the first check that succeeds. Later changes are for a metric to show. */
export class StartCheck implements Component {
  readonly name: string;
  readonly #options: StartCheckOptions;
  readonly #loop: PollLoop;
  readonly #firstCheck = Promise.withResolvers<void>();
  #problem: ConfigError | undefined;
  #isStarted = false;
  #hasPassed = false;

  constructor(options: StartCheckOptions) {
    this.name = options.name;
    this.#options = options;
    this.#loop = new PollLoop({
      name: this.name,
      intervalMs: ONE_DAY_MS,
      run: (signal) => Promise.race([this.#check(), ended(signal)]), // the stop does not wait for a check that hangs
      onError: () => {}, // the readiness check reports a dependency that does not answer
    });
  }

  /** @throws ConfigError when the first check finds problems within 2 s */
  async start(): Promise<void> {
    await this.#loop.start();
    const waiting = new AbortController();
    await Promise.race([this.#firstCheck.promise, sleep(FIRST_CHECK_MS, waiting.signal)]);
    waiting.abort();
    this.#isStarted = true;
    if (this.#problem !== undefined) throw this.#problem;
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #check(): Promise<void> {
    if (this.#hasPassed) return;
    try {
      const problems = await this.#options.findProblems();
      this.#hasPassed = true;
      if (problems.length === 0) return;
      this.#problem = new ConfigError(problems);
      if (this.#isStarted) this.#options.fail(this.#problem);
    } finally {
      this.#firstCheck.resolve();
    }
  }
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
