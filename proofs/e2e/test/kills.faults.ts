import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CreatedPaste } from '@pasteflow/client';
import type { HeldRequest } from '@pasteflow/dev-stack/testing';
import { BUSY_MACHINE_MS, metricOf } from '@pasteflow/dev-stack/testing';
import { startCluster, type Cluster } from '../src/index.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({
    env: {
      SWEEP_INTERVALS: 'cleanup=1,deletion-watchdog=1',
      S3_PUT_TIMEOUT_MS: '60000', // a held put waits while a busy machine starts a worker
    },
  });
});
afterAll(() => cluster.stop());

const content = randomBytes(1000);
const anyDeletion = { method: 'POST', path: /\?delete/ };

describe('a worker killed during a put', () => {
  it('has its upload put by another worker within 10 s without spending an attempt, whether or not S3 has the object', async () => {
    const doomed = cluster.workers[0]!;
    const [unsent, unanswered] = [await pasteWithHeldPut(), await pasteWithHeldPut()];
    await unanswered.put.forwardAndHoldResponse();
    await cluster.add('upload-worker');
    const killedAt = performance.now();
    await doomed.kill();

    for (const { code, put } of [unsent, unanswered]) {
      put.drop();
      await cluster.untilStatus(code, 'PROCESSED');
      const puts = cluster.s3.matching({ method: 'PUT', path: cluster.objectPath(code) });
      expect(puts).toHaveLength(2);
      expect(puts[1]!.at - killedAt).toBeLessThan(
        10_000 + BUSY_MACHINE_MS + cluster.stack.aws.abandonedReceiveMs,
      );
      const [first, second, ...more] = await cluster.executions(code);
      expect(first).toMatchObject({
        attempt: 1,
        status: 'FAILED',
        error: `worker lost: ${first!.worker_id}`,
      });
      expect(second).toMatchObject({ attempt: 1, status: 'SUCCEEDED', error: null }); // a loss spends no attempt
      expect(second!.worker_id).not.toBe(first!.worker_id);
      expect(more).toEqual([]);
      expect(await timelineOf(code)).toEqual([
        { machine: 'task_execution', from: 'PENDING', to: 'RUNNING', reason_class: 'claimed' },
        { machine: 'task_execution', from: 'RUNNING', to: 'FAILED', reason_class: 'worker_lost' },
        { machine: 'task_execution', from: 'PENDING', to: 'RUNNING', reason_class: 'claimed' },
        { machine: 'task_execution', from: 'RUNNING', to: 'SUCCEEDED', reason_class: null },
        { machine: 'paste_upload', from: 'IN_PROGRESS', to: 'PROCESSED', reason_class: null },
      ]);
      expect((await cluster.http().read(code)).body.equals(content)).toBe(true);
    }
    await cluster.expectQuiet();
  });
});

describe('a worker killed between the settlement and the acknowledgement', () => {
  it('has its message acknowledged by another worker, without a put or a transition', async () => {
    const doomed = cluster.workers[0]!;
    const holding = cluster.sqs.hold({ target: 'DeleteMessageBatch' });
    const codes = await Promise.all(
      Array.from({ length: 5 }, async () => (await cluster.client().pastes.create(content)).short_code),
    );
    for (const code of codes) await cluster.untilStatus(code, 'PROCESSED');
    const held = await holding;
    const transitions = await Promise.all(codes.map((code) => cluster.transitions(code)));
    const puts = cluster.s3.matching({ method: 'PUT' }).length;
    await doomed.kill();
    held.drop();
    await doomed.start();

    await cluster.until(
      () => cluster.queues.counts('uploads'),
      ({ visible, hidden }) => visible + hidden === 0,
    );
    expect(await Promise.all(codes.map((code) => cluster.transitions(code)))).toEqual(transitions);
    expect(cluster.s3.matching({ method: 'PUT' })).toHaveLength(puts);
    await cluster.expectQuiet();
  });
});

describe('an api killed between commit and dispatch', () => {
  it('has its upload sent by the relay within 10 s', async () => {
    const api = cluster.apis[0]!;
    const holding = cluster.sqs.hold({ target: 'SendMessageBatch' });
    const { short_code: code } = await cluster.client().pastes.create(content);
    const held = await holding;
    const killedAt = performance.now();
    await api.kill();
    held.drop();

    await cluster.untilStatus(code, 'PROCESSED');
    const [put, ...more] = cluster.s3.matching({ method: 'PUT', path: cluster.objectPath(code) });
    expect(put!.at - killedAt).toBeLessThan(10_000 + BUSY_MACHINE_MS);
    expect(more).toEqual([]);
    expect(await cluster.executions(code)).toMatchObject([{ attempt: 1, status: 'SUCCEEDED' }]);
    await api.start();
    expect((await cluster.http().read(code)).body.equals(content)).toBe(true);
    await cluster.expectQuiet();
  });
});

describe('a janitor killed during a deletion', () => {
  it.each([
    ['between claim and delete', () => {}, true],
    ['between delete and settle', (held: HeldRequest) => held.forwardAndHoldResponse(), false],
  ])(
    'has its claim released by the watchdog after two hours, and the next cleanup deletes the paste: %s',
    async (_, reach, objectExists) => {
      const janitor = cluster.janitors[0]!;
      const { short_code: code, delete_token } = await stored();
      const holding = cluster.s3.hold(anyDeletion);
      await cluster.client().pastes.delete(code, { deleteToken: delete_token });
      const held = await holding;
      await reach(held);
      await janitor.kill();
      held.drop();
      expect(await cluster.bucket.keys()).toEqual(
        objectExists
          ? expect.arrayContaining([`pastes/${code}`])
          : expect.not.arrayContaining([`pastes/${code}`]),
      );
      expect(await cluster.http().read(code)).toMatchObject({ status: 410 });

      await janitor.start();
      for (const sweep of ['cleanup', 'deletion-watchdog'])
        await cluster.until(() => metricOf(janitor, 'janitor_sweep_runs_total', { sweep, outcome: 'done' }));
      expect(await cluster.paste(code)).toMatchObject({ deletion_status: 'DELETION_IN_PROGRESS' });

      await cluster.rows.query(
        `UPDATE pastes SET deletion_initiated_at = now() - interval '7201 seconds' WHERE short_code = $1`,
        [code],
      );
      await cluster.until(
        () => cluster.paste(code),
        (paste) => paste.deletion_status === 'DELETED',
      );
      expect((await cluster.transitions(code)).filter((step) => step.startsWith('paste_deletion'))).toEqual([
        'paste_deletion NOT_EXPIRED DELETION_IN_PROGRESS',
        'paste_deletion DELETION_IN_PROGRESS NOT_EXPIRED',
        'paste_deletion NOT_EXPIRED DELETION_IN_PROGRESS',
        'paste_deletion DELETION_IN_PROGRESS DELETED',
      ]);
      expect(await cluster.bucket.keys()).not.toContain(`pastes/${code}`);
      await cluster.expectQuiet();
    },
  );
});

async function pasteWithHeldPut(): Promise<{ code: string; put: HeldRequest }> {
  const holding = cluster.s3.hold({ method: 'PUT', path: /\/pastes\// });
  const { short_code: code } = await cluster.client().pastes.create(content);
  return { code, put: await holding };
}

async function stored(): Promise<CreatedPaste> {
  const paste = await cluster.client().pastes.create(content);
  await cluster.untilStatus(paste.short_code, 'PROCESSED');
  return paste;
}

async function timelineOf(code: string): Promise<object[]> {
  const { transitions } = await cluster.client().pastes.timeline(code);
  return transitions.map(({ machine, from, to, reason_class }) => ({ machine, from, to, reason_class }));
}
