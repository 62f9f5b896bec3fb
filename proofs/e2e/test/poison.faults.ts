import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startCluster, type Cluster } from '../src/index.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({
    janitors: 0,
    env: { UPLOAD_CONCURRENCY: '1', SWEEP_INTERVALS: 'dead-letters=0.5' },
  });
});
afterAll(() => cluster.stop());

const POISON = [
  'not JSON at all',
  '"a string"',
  'null',
  '[]',
  '{}',
  '{"shortCode":42}',
  '{"shortCode":"../../etc/passwd"}',
  `{"shortCode":"${'a'.repeat(10_000)}"}`,
  '{"shortCode":"abcdefghij","contentBytes":"no base64!"}',
];
const UPLOADS = 'uploads';
const DEAD_LETTERS = 'uploads-dead-letters';

describe('a poison message', () => {
  it('moves to the dead-letter queue at once and unchanged, and its consumer continues', async () => {
    await Promise.all(POISON.map((body) => cluster.queues.send(UPLOADS, body)));
    const { short_code } = await cluster.client().pastes.create('valid');
    await cluster.untilStatus(short_code, 'PROCESSED');
    await cluster.until(
      () => cluster.queues.counts(DEAD_LETTERS),
      ({ visible }) => visible === POISON.length,
    );
    await cluster.until(
      () => cluster.queues.counts(UPLOADS),
      ({ visible, hidden }) => visible + hidden === 0,
    );
    expect((await cluster.queues.peek(DEAD_LETTERS)).toSorted()).toEqual(POISON.toSorted());
  });

  it('is acknowledged when it names a paste that does not exist', async () => {
    await cluster.queues.send(UPLOADS, { shortCode: 'zzzzzzzzzz', contentBytes: 'AAAA' });
    await cluster.until(
      () => cluster.queues.counts(UPLOADS),
      ({ visible, hidden }) => visible + hidden === 0,
    );
    expect(await cluster.queues.counts(DEAD_LETTERS)).toEqual({ visible: POISON.length, hidden: 0 });
    expect(await cluster.bucket.keys()).not.toContain('pastes/zzzzzzzzzz');
  });

  it('is removed from the dead-letter queue by the janitor, which logs its message id', async () => {
    const janitor = await cluster.add('janitor');
    await cluster.until(
      () => cluster.queues.counts(DEAD_LETTERS),
      ({ visible, hidden }) => visible + hidden === 0,
    );
    const unreadable = janitor.log.filter(({ message }) => message === 'unreadable dead letter dropped');
    expect(new Set(unreadable.map(({ message_id }) => message_id)).size).toBe(POISON.length);
    await cluster.expectQuiet();
  });
});

describe('a dead letter of an upload', () => {
  it('ends the attempt as lost, and the next attempt succeeds', async () => {
    const restore = cluster.sqs.rule({ target: 'SendMessageBatch' }, { kind: 'fail', status: 500 });
    const { short_code } = await cluster.client().pastes.create('was a dead letter');
    await cluster.queues.send(DEAD_LETTERS, { shortCode: short_code });
    await cluster.until(
      () => cluster.executions(short_code),
      (executions) => executions[0]?.status === 'FAILED',
    );
    restore();
    await cluster.untilStatus(short_code, 'PROCESSED');
    expect((await cluster.executions(short_code)).map(({ attempt, error }) => [attempt, error])).toEqual([
      [1, expect.stringContaining('dead letter')],
      [1, null], // a loss spends no attempt
    ]);
    await cluster.expectQuiet();
  });
});
