import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Paste } from '@pasteflow/client';
import { startCluster, type Cluster } from '../src/index.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster(); // the retry policy and everything else as shipped
});
afterAll(() => cluster.stop());

const DELAYS_MS = [1000, 2000, 4000, 8000, 16_000];
const JITTER_MS = 200;

/**
 * From put to put there is more than the wait: the answer of S3, the statement that settles, the request that hands the message back,
 * receiving and claiming, and what SQS's own clock is late by (the emulator's 12 to 16 ms, LocalStack's up to a second). Measured: 35 to
 * 90 ms in all on the emulator; the rest is for a machine whose cores are busy with other tests. Nothing makes a gap shorter but the
 * proxy's own clock being read late.
 */
const LATE_MS = 750;
const EARLY_MS = 30;

const FAIL = { kind: 'fail', status: 500 } as const;

/** A paste of which no worker hears before `prepare` has set the faults for the path of its object. */
async function createPrepared(prepare: (path: RegExp) => void): Promise<Paste> {
  const dispatch = cluster.sqs.hold({ target: 'SendMessageBatch' });
  const paste = await cluster.client().pastes.create('some content');
  prepare(cluster.objectPath(paste.short_code));
  await (await dispatch).forward();
  return paste;
}

const putsOf = ({ short_code }: Paste) =>
  cluster.s3.matching({ method: 'PUT', path: cluster.objectPath(short_code) });

describe('an upload (R3)', () => {
  let hopeless: Paste;
  let lucky: Paste;
  beforeAll(async () => {
    hopeless = await createPrepared((path) => cluster.s3.rule({ method: 'PUT', path }, FAIL));
    lucky = await createPrepared((path) => cluster.s3.rule({ method: 'PUT', path }, FAIL, 3));
  });

  it('that fails three times and then works is PROCESSED with its fourth put', async () => {
    await cluster.untilStatus(lucky.short_code, 'PROCESSED', { within: 60_000 });
    expect(putsOf(lucky).map(({ status }) => status)).toEqual([500, 500, 500, 200]);
    const executions = await cluster.executions(lucky.short_code);
    expect(executions.map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, 'FAILED'],
      [2, 'FAILED'],
      [3, 'FAILED'],
      [4, 'SUCCEEDED'],
    ]);
    expect((await cluster.http().read(lucky.short_code)).body.toString()).toBe('some content');
  });

  it('that always fails is put six times, 1, 2, 4, 8 and 16 s apart, and is FAILED then', async () => {
    await cluster.untilStatus(hopeless.short_code, 'FAILED', { within: 60_000 });
    const times = putsOf(hopeless).map(({ at }) => at);
    expect(times).toHaveLength(6);
    const gaps = times.slice(1).map((at, index) => at - (times[index] as number));
    for (const [index, delay] of DELAYS_MS.entries()) {
      expect(gaps[index]).toBeGreaterThanOrEqual(delay - JITTER_MS - EARLY_MS);
      const latest = delay + JITTER_MS + LATE_MS + cluster.stack.aws.redeliveryLateMs;
      expect(gaps[index]).toBeLessThanOrEqual(latest);
    }
  });

  it('is given waits that are within ±200 ms to the millisecond', async () => {
    const executions = await cluster.executions(hopeless.short_code);
    expect(executions.map(({ attempt, status }) => [attempt, status])).toEqual(
      [1, 2, 3, 4, 5, 6].map((attempt) => [attempt, 'FAILED']),
    );
    for (const [index, delay] of DELAYS_MS.entries()) {
      const wait = Number(executions[index + 1]?.run_at) - Number(executions[index]?.finished_at);
      expect(Math.abs(wait - delay)).toBeLessThanOrEqual(JITTER_MS + 1); // a millisecond for the rounding of both times
    }
  });

  it('that is FAILED has lost its payload and its message, says why, and is never put again', async () => {
    await cluster.expectQuiet();
    const { id, failure_reason } = await cluster.paste(hopeless.short_code);
    expect(failure_reason).toBe(
      'storage unavailable: 6 attempts failed; the last: S3 answered 500 InternalError',
    );
    expect(await cluster.rows.query('SELECT FROM paste_payloads WHERE paste_id = $1', [id])).toEqual([]);
    expect((await cluster.http().read(hopeless.short_code)).status).toBe(404);
    expect(putsOf(hopeless)).toHaveLength(6);
  });
});
