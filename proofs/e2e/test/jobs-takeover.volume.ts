import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { HeldRequest, RequestMatch } from '@pasteflow/dev-stack/testing';
import { BUSY_MACHINE_MS } from '@pasteflow/dev-stack/testing';
import { startCluster, visibilityChanges, type Cluster, type User } from '../src/index.ts';

let cluster: Cluster;
let alice: User;
let owner: { readonly ofSmall: User; readonly ofLarge: User };
beforeAll(async () => {
  cluster = await startCluster({
    env: {
      S3_PUT_TIMEOUT_MS: '60000', // a held request waits while a busy machine starts a worker
    },
  });
  const withPastes = async (name: string, bytes: number): Promise<User> => {
    const user = await cluster.user(name);
    for (let n = 0; n < 3; n += 1) await user.pastes.create(randomBytes(bytes), { wait: true });
    return user;
  };
  // The archive of the large ones has more than one part of a multipart upload, which has 8 MiB. Random bytes
  // cannot be compressed.
  owner = { ofSmall: await withPastes('alice', 1000), ofLarge: await withPastes('bob', 3 * MIB) };
  alice = owner.ofSmall;
});
afterEach(() => cluster.s3.clear());
afterAll(() => cluster.stop());

const MIB = 1_048_576;
/**
 * From the crash of a worker until its job runs elsewhere: the lease of 6 s, the sweep's interval of 2 s, and
 * the delivery of a message.
 */
const TAKEOVER_MS = 10_000;

const exportJob = { job_type: 'export', parameters: { format: 'zip' } } as const;
const inFolder = /^\/[^/]+\/jobs\//;

describe('a worker killed during an export', () => {
  it.each<[string, keyof typeof owner, RequestMatch, (held: HeldRequest) => unknown]>([
    ['during a read', 'ofSmall', { method: 'GET', path: /\/pastes\// }, () => {}],
    [
      'in the middle of the multipart upload',
      'ofLarge',
      { method: 'PUT', path: /\/jobs\/.*partNumber=2/ },
      () => {},
    ],
    [
      'after the upload and before the asset',
      'ofLarge',
      { method: 'POST', path: /\/jobs\/.*uploadId=/ },
      (held) => held.forwardAndHoldResponse(),
    ],
  ])(
    'has its job run elsewhere within 10 s, with one archive and no other object: %s',
    async (_name, pastes, match, reach) => {
      const user = owner[pastes];
      const doomed = cluster.workers.at(-1)!;
      const holding = cluster.s3.hold(match);
      const { job_id: id } = await user.jobs.create(exportJob);
      const held = await holding;
      await reach(held);
      await cluster.add('upload-worker');
      const [clock] = await cluster.rows.query<{ now: Date }>('SELECT now()');
      await doomed.kill();
      held.drop();

      expect(await user.jobs.wait(id)).toMatchObject({ status: 'completed', result: { exported: 3 } });
      const [lost, successor, ...more] = await cluster.jobExecutions(id);
      expect(lost).toMatchObject({ attempt: 1, status: 'FAILED', error: `worker lost: ${lost!.worker_id}` });
      expect(successor).toMatchObject({ attempt: 1, status: 'SUCCEEDED', error: null }); // a loss spends no attempt
      expect(more).toEqual([]);
      expect(successor!.worker_id).not.toBe(lost!.worker_id);
      expect(Number(successor!.started_at) - Number(clock!.now)).toBeLessThan(
        TAKEOVER_MS + BUSY_MACHINE_MS + cluster.stack.aws.abandonedReceiveMs,
      );
      const { transitions } = await user.jobs.timeline(id);
      expect(transitions.map(({ machine, from, to }) => `${machine} ${from} ${to}`)).toEqual([
        'task_execution PENDING RUNNING',
        'job queued processing',
        'task_execution RUNNING FAILED',
        'task_execution PENDING RUNNING',
        'task_execution RUNNING SUCCEEDED',
        'job processing completed',
      ]);
      const { items: assets } = await user.jobs.assets(id).page();
      expect(assets).toHaveLength(1);
      expect((await cluster.bucket.keys()).filter((key) => key.includes(id))).toEqual([
        `jobs/${id}/${successor!.id}-1.zip`,
      ]);
      await cluster.expectQuiet();
    },
    120_000,
  );
});

describe('a worker stopped during an export', () => {
  it('ends a job that ends in time', async () => {
    const stopping = cluster.workers.at(-1)!;
    const holding = cluster.s3.hold({ method: 'PUT', path: inFolder });
    const { job_id: id } = await alice.jobs.create(exportJob);
    const held = await holding;
    const ended = stopping.stop();
    await cluster.until(() => stopping.log.some(({ message }) => message === 'service stopping'));
    await held.forward();
    expect(await ended).toMatchObject({ code: 0 });
    expect(await cluster.jobExecutions(id)).toMatchObject([{ attempt: 1, status: 'SUCCEEDED' }]);
    await stopping.start();
    await cluster.expectQuiet();
  });

  it('interrupts a job that takes longer, which then runs elsewhere at once as the same attempt', async () => {
    const stopping = cluster.workers.at(-1)!;
    const holding = cluster.s3.hold({ method: 'PUT', path: inFolder });
    const { job_id: id } = await alice.jobs.create(exportJob);
    const held = await holding;
    await cluster.add('upload-worker');
    const returned = () => visibilityChanges(cluster.sqs).filter((seconds) => seconds === 0).length;
    const before = returned();
    expect(await stopping.stop()).toMatchObject({ code: 0 });
    expect(returned()).toBeGreaterThan(before); // otherwise the message would be hidden for at least 8 s
    held.drop();
    expect(await alice.jobs.wait(id)).toMatchObject({ status: 'completed', result: { exported: 3 } });
    const [interrupted, successor, ...more] = await cluster.jobExecutions(id);
    expect(interrupted).toMatchObject({ attempt: 1, status: 'FAILED', error: 'interrupted' });
    expect(successor).toMatchObject({ attempt: 1, status: 'SUCCEEDED', error: null });
    expect(more).toEqual([]);
    expect(successor!.worker_id).not.toBe(interrupted!.worker_id);
    await cluster.expectQuiet();
  });
});
