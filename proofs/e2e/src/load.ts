import { setTimeout as sleep } from 'node:timers/promises';

export interface LoadOptions {
  /** The number of calls side by side. Default: 4. */
  readonly lanes?: number;
  /**
   * The pause of each lane between two calls, in ms. Default: 100. The services share the machine with the
   * load.
   */
  readonly pauseMs?: number;
}

/** Calls `act` repeatedly until it is stopped. `act` must not throw; its result is the outcome. */
export class Load<T> {
  /** The outcomes in the order in which the calls ended. */
  readonly outcomes: T[] = [];
  readonly #lanes: readonly Promise<void>[];
  #stopping = false;

  constructor(act: (n: number) => Promise<T>, { lanes = 4, pauseMs = 100 }: LoadOptions = {}) {
    let n = 0;
    const run = async (): Promise<void> => {
      while (!this.#stopping) {
        this.outcomes.push(await act((n += 1)));
        await sleep(pauseMs);
      }
    };
    this.#lanes = Array.from({ length: lanes }, run);
  }

  /** Waits for the running calls. @returns every outcome */
  async stop(): Promise<readonly T[]> {
    this.#stopping = true;
    await Promise.all(this.#lanes);
    return this.outcomes;
  }
}
