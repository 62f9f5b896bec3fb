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
    const readiness = started();
    let up = false;
    readiness.addCheck('postgres', () => (up ? Promise.resolve() : Promise.reject(new Error('refused'))));
    expect(await readiness.report()).toEqual({
      ready: false,
      status: 'not_ready',
      checks: { postgres: { state: 'failed', required: true } },
    });
    up = true;
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

  it('runs each check once for concurrent reports, and again for a later report', async () => {
    const readiness = started();
    let runs = 0;
    readiness.addCheck('postgres', () => Promise.resolve((runs += 1)));
    await Promise.all([readiness.report(), readiness.report(), readiness.report()]);
    expect(runs).toBe(1);
    await readiness.report();
    expect(runs).toBe(2);
  });
});
