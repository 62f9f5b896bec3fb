import { makeJobs, makePastes } from '@pasteflow/postgres/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { runOpsCommand } from '../src/operations/commands/run-ops-command.ts';
import type { Status } from '../src/operations/reports/read-status.ts';
import { createWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const ops = (...args: string[]) => runOpsCommand(args, world.env);

it('ops status begins with how much there is, what is created, what waits and what failed', async () => {
  await makePastes(world.db, 20, {
    status: 'PROCESSED',
    content: Buffer.alloc(1024),
    createdSecondsAgo: 60,
  });
  await makePastes(world.db, 2, { status: 'FAILED', content: Buffer.alloc(512), createdSecondsAgo: 3600 });
  await makePastes(world.db, 1, {
    status: 'PROCESSED',
    expiresInSeconds: -60,
    deletion: { status: 'DELETED', secondsAgo: 30 },
  });
  const due = { status: 'PENDING', dueSecondsAgo: 90, dispatchedSecondsAgo: null } as const;
  const options = { userId: world.userId, createdSecondsAgo: 3600 };
  await makeJobs(world.db, 1, { ...options, status: 'queued', execution: due });
  await makeJobs(world.db, 3, { ...options, status: 'failed', completedSecondsAgo: 600 });
  await makeJobs(world.db, 1, { ...options, status: 'failed', completedSecondsAgo: 90_000 });
  const { glance, counts } = JSON.parse((await ops('status', '--json')).stdout) as Status;
  const exactly = (count: number) => ({ count, approximate: false });
  expect(glance).toEqual({
    pastes: exactly(22),
    bytes: exactly(21 * 1024),
    created_per_minute: 2.1, // the deleted one, too
    oldest_waiting: { kind: 'job', seconds: expect.any(Number) },
    failed: { uploads: exactly(2), jobs: exactly(3), deliveries: exactly(0) },
  });
  expect(glance.oldest_waiting!.seconds).toBeGreaterThanOrEqual(90);
  expect(counts).toMatchObject({ pastes: exactly(22), jobs: exactly(5), workers: exactly(0) });
  expect((await ops('status')).stdout).toMatch(
    /^Pasteflow at .*\n\nPastes +22, 21 KiB\nCreated +2\.1 a minute\nOldest waiting +job, due for \d.*\nFailed in a day +2 uploads, 3 jobs, 0 deliveries\nReads +.*http_request_duration_seconds\n\nNeeds a person/,
  );
});
