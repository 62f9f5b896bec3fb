import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Paste } from '@pasteflow/client';
import { BUSY_MACHINE_MS } from '@pasteflow/dev-stack/testing';
import { startCluster, type Cluster } from '../src/index.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster(); // with the default retry policy
});
afterAll(() => cluster.stop());

const DELAYS_MS = [1000, 2000, 4000, 8000, 16_000];
const JITTER_MS = 200;

/**
 * A gap can only be shorter than its delay when the proxy records the first request late, which takes a busy
 * machine hundreds of ms.
 */
const EARLY_MS = 400;

const FAIL = { kind: 'fail', status: 500 } as const;

/** Creates a paste, and calls `prepare` with the path of its object before the message is sent. */
async function createPrepared(prepare: (path: RegExp) => void): Promise<Paste> {
  const dispatch = cluster.sqs.hold({ target: 'SendMessageBatch' });
  const paste = await cluster.client().pastes.create('some content');
  prepare(cluster.objectPath(paste.short_code));
  await (await dispatch).forward();
  return paste;
}

const putsOf = ({ short_code }: Paste) =>
  cluster.s3.matching({ method: 'PUT', path: cluster.objectPath(short_code) });

/**
 * How often a message for this paste was sent, by the api or by the relay. A message that returns to its
 * queue is not sent again.
 */
const messagesFor = ({ short_code }: Paste): number =>
  cluster.sqs
    .matching({ target: 'SendMessageBatch' })
    .filter(({ body }) => body?.toString().includes(short_code)).length;

// The time between two puts also contains the answer of S3, the settlement, the return of the message, the
// receive and the claim: 35 to 90 ms in all on a calm machine. So no gap has a close upper bound here. The
// exact delays are in the rows, the delays of returned messages in message-returner.test.ts, and that a retry
// comes by its returned message shows in the messages that were sent.
describe('an upload', () => {
  let failing: Paste;
  let recovering: Paste;
  beforeAll(async () => {
    failing = await createPrepared((path) => cluster.s3.rule({ method: 'PUT', path }, FAIL));
    recovering = await createPrepared((path) => cluster.s3.rule({ method: 'PUT', path }, FAIL, 3));
  });

  it('whose first three puts fail is PROCESSED after the fourth', async () => {
    await cluster.untilStatus(recovering.short_code, 'PROCESSED', { within: 110_000 });
    expect(putsOf(recovering).map(({ status }) => status)).toEqual([500, 500, 500, 200]);
    const executions = await cluster.executions(recovering.short_code);
    expect(executions.map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, 'FAILED'],
      [2, 'FAILED'],
      [3, 'FAILED'],
      [4, 'SUCCEEDED'],
    ]);
    expect((await cluster.http().read(recovering.short_code)).body.toString()).toBe('some content');
  });

  it('that always fails is put six times, with gaps of 1, 2, 4, 8 and 16 s, and is then FAILED', async () => {
    await cluster.untilStatus(failing.short_code, 'FAILED', { within: 110_000 });
    const times = putsOf(failing).map(({ at }) => at);
    expect(times).toHaveLength(6);
    const gaps = times.slice(1).map((at, index) => at - (times[index] as number));
    for (const [index, delay] of DELAYS_MS.entries()) {
      expect(gaps[index]).toBeGreaterThanOrEqual(delay - JITTER_MS - EARLY_MS);
      expect(gaps[index]).toBeLessThanOrEqual(delay + BUSY_MACHINE_MS);
    }
    expect(messagesFor(failing)).toBe(1);
  });

  it('waits its delay ±200 ms, to the millisecond, by the times in the rows', async () => {
    const executions = await cluster.executions(failing.short_code);
    expect(executions.map(({ attempt, status }) => [attempt, status])).toEqual(
      [1, 2, 3, 4, 5, 6].map((attempt) => [attempt, 'FAILED']),
    );
    for (const [index, delay] of DELAYS_MS.entries()) {
      const wait = Number(executions[index + 1]?.run_at) - Number(executions[index]?.finished_at);
      expect(Math.abs(wait - delay)).toBeLessThanOrEqual(JITTER_MS + 1); // one more millisecond, because both times are rounded
    }
  });

  it('that is FAILED has a reason and no message, and is not put again', async () => {
    await cluster.expectQuiet();
    const { id, failure_reason } = await cluster.paste(failing.short_code);
    expect(failure_reason).toBe(
      'storage unavailable: 6 attempts failed; the last: S3 answered 500 InternalError',
    );
    expect(await cluster.rows.query('SELECT FROM paste_payloads WHERE paste_id = $1', [id])).toEqual([]);
    expect((await cluster.http().read(failing.short_code)).status).toBe(404);
    expect(putsOf(failing)).toHaveLength(6);
  });
});
