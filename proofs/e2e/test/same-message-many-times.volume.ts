import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Paste } from '@pasteflow/client';
import { startCluster, visibilityChanges, type Cluster } from '../src/index.ts';

const ONE_LIFE = [
  'paste_upload IN_PROGRESS PROCESSED',
  'task_execution PENDING RUNNING',
  'task_execution RUNNING SUCCEEDED',
];

const LEASE_SECONDS = 3;

let cluster: Cluster;
beforeAll(async () => {
  // Each worker takes one batch at a time. The api can send no messages and there is no relay, so all
  // messages are the test's.
  cluster = await startCluster({
    workers: 2,
    janitors: 0,
    env: { UPLOAD_CONCURRENCY: '1', EXECUTION_LEASE_SECONDS: String(LEASE_SECONDS) },
  });
  cluster.sqs.rule({ target: 'SendMessageBatch' }, { kind: 'fail', status: 500 });
});
afterAll(() => cluster.stop());

const CONTENT = 'the same content';
const send = ({ short_code }: Paste) =>
  cluster.queues.send('uploads', {
    shortCode: short_code,
    contentBytes: Buffer.from(CONTENT).toString('base64'),
  });
const putsOf = ({ short_code }: Paste) =>
  cluster.s3.matching({ method: 'PUT', path: cluster.objectPath(short_code) });

async function expectOneLife(paste: Paste): Promise<void> {
  expect(putsOf(paste)).toHaveLength(1);
  expect((await cluster.transitions(paste.short_code)).toSorted()).toEqual(ONE_LIFE);
}

describe('the same message delivered three times to two workers (R5)', () => {
  it('has the effect of one: one put and one transition each, for 30 pastes at once', async () => {
    const pastes = await Promise.all(
      Array.from({ length: 30 }, () => cluster.client().pastes.create(CONTENT)),
    );
    await Promise.all([...pastes, ...pastes, ...pastes].map(send));
    await cluster.expectQuiet({ within: 60_000 });
    for (const paste of pastes) await expectOneLife(paste);
  });

  it('is returned by the second worker, which changes nothing, while the first worker puts', async () => {
    const put = cluster.s3.hold({ method: 'PUT' });
    const before = countReturned();
    const paste = await cluster.client().pastes.create(CONTENT);
    await send(paste);
    const held = await put;
    // The worker of that put takes no other batch, so the other worker receives these two.
    await Promise.all([send(paste), send(paste)]);
    await cluster.until(countReturned, (count) => count > before);
    expect(await cluster.transitions(paste.short_code)).toEqual(['task_execution PENDING RUNNING']);
    await held.forward();
    await cluster.expectQuiet({ within: 60_000 });
    await expectOneLife(paste);
  });
});

/**
 * The number of messages that a worker returned until the lease of the other worker ends. The heartbeat hides
 * messages for longer.
 */
function countReturned(): number {
  return visibilityChanges(cluster.sqs).filter((seconds) => seconds <= LEASE_SECONDS).length;
}
