import { setTimeout as sleep } from 'node:timers/promises';

export interface LoadOptions {
  /** How many do it side by side. */
  readonly lanes?: number;
  /** What each waits before it does it again, in ms: the services have to share the machine with it. */
  readonly pauseMs?: number;
}

/** Does something again and again until it is stopped. `act` must not throw: how it went is its outcome. */
export class Load<T> {
  /** In the order in which they ended. */
  readonly outcomes: T[] = [];
  readonly #lanes: readonly Promise<void>[];
  #stopping = false;

  constructor(act: (n: number) => Promise<T>, { lanes = 4, pauseMs = 10 }: LoadOptions = {}) {
    let n = 0;
    const run = async (): Promise<void> => {
      while (!this.#stopping) {
        this.outcomes.push(await act((n += 1)));
        await sleep(pauseMs);
      }
    };
    this.#lanes = Array.from({ length: lanes }, run);
  }

  /** Lets what is under way end. @returns every outcome */
  async stop(): Promise<readonly T[]> {
    this.#stopping = true;
    await Promise.all(this.#lanes);
    return this.outcomes;
  }
}
