import { describe, expect, it } from '@jest/globals';
import { Readiness } from '../src/index.ts';

const never = (): Promise<never> => new Promise(() => undefined);

function started(options?: ConstructorParameters<typeof Readiness>[0]): Readiness {
  const readiness = new Readiness(options);
  readiness.markStarted();
  return readiness;
}

describe('readiness', () => {
  it('is reported from the start until the stop', async () => {
    const readiness = new Readiness();
    expect(await readiness.report()).toEqual({ ready: false, status: 'starting', checks: {} });
    expect(readiness.markStarted()).toBe(true);
    expect(await readiness.report()).toEqual({ ready: true, status: 'ready', checks: {} });
    readiness.markStopping();
    expect(await readiness.report()).toEqual({ ready: false, status: 'stopping', checks: {} });
    expect(readiness.markStarted()).toBe(false);
    expect((await readiness.report()).ready).toBe(false);
  });

  it('is lost while a required check fails, and returns when the check succeeds', async () => {
    let now = 0;
    const readiness = started({ now: () => now });
    let up = false;
    readiness.addCheck('postgres', () => (up ? Promise.resolve() : Promise.reject(new Error('refused'))));
    expect(await readiness.report()).toEqual({
      ready: false,
      status: 'not_ready',
      checks: { postgres: { state: 'failed', required: true } },
    });
    up = true;
    now = 1000;
    expect((await readiness.report()).ready).toBe(true);
  });

  it('is kept when an optional check fails', async () => {
    const readiness = started();
    readiness.addCheck('sqs', () => Promise.reject(new Error('refused')), { required: false });
    expect(await readiness.report()).toMatchObject({
      ready: true,
      checks: { sqs: { state: 'failed', required: false } },
    });
  });

  it('does not wait for a check that hangs, and aborts its signal', async () => {
    let signal: AbortSignal | undefined;
    const failures: unknown[] = [];
    const readiness = started({
      timeoutMs: 10,
      onCheckFailed: (name, error) => failures.push([name, error]),
    });
    readiness.addCheck('postgres', (given) => {
      signal = given;
      return never();
    });
    expect((await readiness.report()).checks).toEqual({ postgres: { state: 'timed_out', required: true } });
    expect(signal?.aborted).toBe(true);
    expect(failures).toEqual([['postgres', new Error('no answer within 10 ms')]]);
  });

  it('treats a check that throws synchronously as failed', async () => {
    const readiness = started();
    readiness.addCheck('s3', () => {
      throw new Error('at once');
    });
    expect((await readiness.report()).checks).toEqual({ s3: { state: 'failed', required: true } });
  });

  it('runs the checks once a second for 200 probes, whether they pass, fail or are slow', async () => {
    let now = 0;
    let asked = 0;
    let check = (): Promise<unknown> => Promise.resolve();
    const readiness = started({ now: () => now });
    readiness.addCheck('postgres', () => {
      asked += 1;
      return check();
    });
    const probes = async () => {
      const reports = await Promise.all(Array.from({ length: 200 }, () => readiness.report()));
      return [...new Set(reports.map(({ ready }) => ready))];
    };
    expect(await probes()).toEqual([true]);
    check = () => Promise.reject(new Error('refused'));
    now = 999;
    expect([await probes(), asked]).toEqual([[true], 1]);
    now = 1000; // a failure is not hidden for longer than the second
    expect([await probes(), asked]).toEqual([[false], 2]);
    const slow = Promise.withResolvers<void>();
    check = () => slow.promise;
    now = 2000;
    const waiting = probes();
    now = 2500;
    const late = probes();
    slow.resolve();
    expect([await waiting, await late, asked]).toEqual([[true], [true], 3]);
  });

  it('repeats a check that is paid for half a minute after it passed, and at once when it failed', async () => {
    let now = 0;
    let asked = 0;
    let up = true;
    const readiness = started({ now: () => now });
    const paid = { required: false, paid: true };
    readiness.addCheck(
      'sqs',
      () => ((asked += 1), up ? Promise.resolve() : Promise.reject(new Error())),
      paid,
    );
    const probe = async (at: number) => {
      now = at;
      return [(await readiness.report()).checks['sqs']?.state, asked];
    };
    expect(await probe(0)).toEqual(['ok', 1]);
    up = false;
    expect(await probe(29_000)).toEqual(['ok', 1]);
    expect(await probe(30_000)).toEqual(['failed', 2]);
    expect(await probe(31_000)).toEqual(['failed', 3]);
    up = true;
    expect(await probe(32_000)).toEqual(['ok', 4]);
    expect(await probe(61_000)).toEqual(['ok', 4]);
    expect(await probe(62_000)).toEqual(['ok', 5]);
  });

  it('shows the start and the stop at once', async () => {
    const readiness = new Readiness({ now: () => 0 });
    expect((await readiness.report()).status).toBe('starting');
    readiness.markStarted();
    expect((await readiness.report()).status).toBe('ready');
    readiness.markStopping();
    expect((await readiness.report()).ready).toBe(false);
  });
});

describe('paused work', () => {
  it('is named while the process stays ready, and left out while it cannot be read', async () => {
    const readiness = new Readiness({ timeoutMs: 50 });
    readiness.markStarted();
    readiness.showPaused(() => Promise.resolve(['uploads']));
    expect(await readiness.report()).toEqual({
      ready: true,
      status: 'ready',
      checks: {},
      paused: ['uploads'],
    });
    const silent = new Readiness({ timeoutMs: 50 });
    silent.markStarted();
    silent.showPaused(() => new Promise(() => {}));
    expect(await silent.report()).toEqual({ ready: true, status: 'ready', checks: {} });
  });
});
