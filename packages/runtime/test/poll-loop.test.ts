import { describe, expect, it } from '@jest/globals';
import { backoffMs, defaultBackoff, PollLoop, sleep, type Sleep } from '../src/index.ts';

type PollLoopParameters = ConstructorParameters<typeof PollLoop>[0];

/** A sleep that ends when the test calls `pass`. */
class ManualTime {
  readonly waits: number[] = [];
  #end: (() => void) | undefined;
  #asleep = Promise.withResolvers<void>();

  readonly sleep: Sleep = (ms, signal) => {
    this.waits.push(ms);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#end = resolve;
    signal.addEventListener('abort', () => resolve());
    this.#asleep.resolve();
    return promise;
  };

  /** Resolves when the loop sleeps. */
  async asleep(): Promise<void> {
    await this.#asleep.promise;
  }

  pass(): void {
    this.#asleep = Promise.withResolvers();
    this.#end?.();
  }
}

function loopOf(
  time: ManualTime,
  run: PollLoopParameters['run'],
  more: Partial<PollLoopParameters> = {},
): PollLoop {
  const onError = (error: unknown): never => {
    throw error;
  };
  return new PollLoop({
    name: 'test',
    intervalMs: 1000,
    run,
    onError,
    sleep: time.sleep,
    random: () => 0.5,
    ...more,
  });
}

describe('the poll loop', () => {
  it('runs immediately, and again after each interval', async () => {
    const time = new ManualTime();
    let passes = 0;
    const loop = loopOf(time, () => Promise.resolve(void (passes += 1)));
    await loop.start();
    await time.asleep();
    expect(passes).toBe(1);
    time.pass();
    await time.asleep();
    expect(passes).toBe(2);
    expect(time.waits).toEqual([1000, 1000]);
    await loop.stop();
  });

  it('waits for firstDelayMs before the first pass', async () => {
    const time = new ManualTime();
    let passes = 0;
    const loop = loopOf(time, () => Promise.resolve(void (passes += 1)), { firstDelayMs: 300 });
    await loop.start();
    await time.asleep();
    expect([passes, ...time.waits]).toEqual([0, 300]);
    await loop.stop();
    expect(passes).toBe(0);
  });

  it('never runs two passes at the same time, also when it is woken', async () => {
    const time = new ManualTime();
    const releases: (() => void)[] = [];
    let running = 0;
    let maxRunning = 0;
    const loop = loopOf(time, async () => {
      running += 1;
      maxRunning = Math.max(maxRunning, running);
      await new Promise<void>((resolve) => releases.push(resolve));
      running -= 1;
    });
    await loop.start();
    await new Promise(setImmediate);
    loop.wake();
    loop.wake();
    await new Promise(setImmediate);
    expect(releases).toHaveLength(1);
    releases[0]?.();
    await new Promise(setImmediate);
    expect(releases).toHaveLength(2); // woken during the pass: the next pass follows without a wait
    expect(time.waits).toEqual([]);
    releases[1]?.();
    await time.asleep();
    expect(releases).toHaveLength(2); // two wakes cause one further pass
    expect(maxRunning).toBe(1);
    await loop.stop();
  });

  it('runs immediately when it is woken while it waits', async () => {
    const time = new ManualTime();
    let passes = 0;
    const second = Promise.withResolvers<void>();
    const loop = loopOf(time, () => {
      passes += 1;
      if (passes === 2) second.resolve();
      return Promise.resolve();
    });
    await loop.start();
    await time.asleep();
    loop.wake();
    await second.promise;
    expect(time.waits[0]).toBe(1000);
    await loop.stop();
  });

  it('waits longer after each failure, up to the cap, and starts over after a success', async () => {
    const time = new ManualTime();
    const reported: unknown[] = [];
    let passes = 0;
    const run = (): Promise<void> => {
      passes += 1;
      return passes <= 4 || passes === 6 ? Promise.reject(new Error(`failure ${passes}`)) : Promise.resolve();
    };
    const loop = loopOf(time, run, {
      backoff: { firstMs: 100, capMs: 300, jitter: 0.2 },
      onError: (error, next) => reported.push([(error as Error).message, next]),
    });
    await loop.start();
    for (let pass = 1; pass < 6; pass += 1) {
      await time.asleep();
      time.pass();
    }
    await time.asleep();
    expect(time.waits).toEqual([100, 200, 300, 300, 1000, 100]);
    expect(reported[1]).toEqual(['failure 2', { failures: 2, retryInMs: 200 }]);
    await loop.stop();
  });

  it('aborts the signal of the running pass, and stops when the pass has ended', async () => {
    const time = new ManualTime();
    const events: string[] = [];
    const release = Promise.withResolvers<void>();
    const loop = loopOf(time, async (signal) => {
      signal.addEventListener('abort', () => events.push('signal aborted'));
      await release.promise;
      events.push('pass ended');
    });
    await loop.start();
    await new Promise(setImmediate);
    const stopped = loop.stop().then(() => events.push('stopped'));
    await new Promise(setImmediate);
    expect(events).toEqual(['signal aborted']);
    release.resolve();
    await stopped;
    expect(events).toEqual(['signal aborted', 'pass ended', 'stopped']);
  });

  it('reports no error of a pass whose signal was aborted', async () => {
    const time = new ManualTime();
    const reported: unknown[] = [];
    const loop = loopOf(
      time,
      (signal) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
      { onError: (error) => reported.push(error) },
    );
    await loop.start();
    await new Promise(setImmediate);
    await loop.stop();
    expect(reported).toEqual([]);
  });

  it('can be stopped before its start, and throws at a second start', async () => {
    const time = new ManualTime();
    await loopOf(time, () => Promise.resolve()).stop();
    const loop = loopOf(time, () => Promise.resolve());
    await loop.start();
    expect(() => loop.start()).toThrow('is already started');
    await loop.stop();
  });
});

describe('the backoff', () => {
  it('doubles the wait from half a second to half a minute', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8, 2000].map((failures) => backoffMs(defaultBackoff, failures, 0.5));
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('changes each wait by up to the jitter, also a capped one', () => {
    expect([backoffMs(defaultBackoff, 1, 0), backoffMs(defaultBackoff, 1, 0.999_999)]).toEqual([400, 600]);
    expect([backoffMs(defaultBackoff, 20, 0), backoffMs(defaultBackoff, 20, 0.999_999)]).toEqual([
      24_000, 36_000,
    ]);
  });
});

describe('sleep', () => {
  it('ends early, without an error, when its signal is aborted', async () => {
    const abort = new AbortController();
    const slept = sleep(60_000, abort.signal);
    abort.abort();
    await slept;
    await sleep(60_000, abort.signal);
    await sleep(1, new AbortController().signal);
  });
});
