import { describe, expect, it } from '@jest/globals';
import { Readiness } from '../src/index.ts';

const never = (): Promise<never> => new Promise(() => undefined);

function started(options?: ConstructorParameters<typeof Readiness>[0]): Readiness {
  const readiness = new Readiness(options);
  readiness.markStarted();
  return readiness;
}

describe('readiness', () => {
  it('comes with the start and ends with the stop', async () => {
    const readiness = new Readiness();
    expect(await readiness.report()).toEqual({ ready: false, status: 'starting', checks: {} });
    expect(readiness.markStarted()).toBe(true);
    expect(await readiness.report()).toEqual({ ready: true, status: 'ready', checks: {} });
    readiness.markStopping();
    expect(await readiness.report()).toEqual({ ready: false, status: 'stopping', checks: {} });
    expect(readiness.markStarted()).toBe(false);
    expect((await readiness.report()).ready).toBe(false);
  });

  it('is lost while a required check fails, and back with it', async () => {
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

  it('is kept when a check fails that is not required', async () => {
    const readiness = started();
    readiness.addCheck('sqs', () => Promise.reject(new Error('refused')), { required: false });
    expect(await readiness.report()).toMatchObject({
      ready: true,
      checks: { sqs: { state: 'failed', required: false } },
    });
  });

  it('does not wait for a check that hangs, and tells it so', async () => {
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

  it('counts a check that throws instead of rejecting as failed', async () => {
    const readiness = started();
    readiness.addCheck('s3', () => {
      throw new Error('at once');
    });
    expect((await readiness.report()).checks).toEqual({ s3: { state: 'failed', required: true } });
  });

  it('asks once for many who ask at the same time, and anew afterwards', async () => {
    const readiness = started();
    let asked = 0;
    readiness.addCheck('postgres', () => Promise.resolve((asked += 1)));
    await Promise.all([readiness.report(), readiness.report(), readiness.report()]);
    expect(asked).toBe(1);
    await readiness.report();
    expect(asked).toBe(2);
  });
});
