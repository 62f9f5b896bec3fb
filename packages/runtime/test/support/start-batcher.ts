import { jest } from '@jest/globals';
import { Batcher, type BatcherOptions } from '../../src/batcher.ts';

export const REFUSED = 'refused to wait';

interface Run {
  readonly items: readonly string[];
  /** Each item gets itself as its result. */
  succeed(): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** Of inserts: a batch at a time, and another one beside it when it is slow. */
export const ONE_AT_A_TIME = {
  maxItems: 64,
  maxBytes: 1024 * 1024,
  slowMs: 250,
  maxRunning: 4,
  maxWaiting: 10_000,
  maxWaitMs: 5000,
};

/** A batcher with fake timers. The test ends each of its runs. */
export function startBatcher(options: Partial<BatcherOptions<string, string>> = ONE_AT_A_TIME) {
  const runs: Run[] = [];
  const batcher = new Batcher<string, string>({
    maxItems: 64,
    refusal: () => new Error(REFUSED),
    ...options,
    run: (items) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
      const ended = () => jest.advanceTimersByTimeAsync(0);
      runs.push({
        items,
        succeed: () => (resolve(items), ended()),
        fail: (error) => (reject(error), ended()),
      });
      return promise;
    },
  });
  const outcomes: Record<string, string> = {};
  const call = (item: string): void => {
    batcher.call(item).then(
      (result) => (outcomes[item] = result),
      (error: unknown) => (outcomes[item] = (error as Error).message),
    );
  };
  return { batcher, runs, outcomes, call, itemsOf: () => runs.map(({ items }) => items) };
}
