import { makeJobs, makeUsers } from '@pasteflow/postgres/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { runOpsCommand } from '../src/ops/run-ops-command.ts';
import { createWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());
beforeEach(() => world.reset());

it('ops cancel ends the job, tells its owner the reason, and refuses to do it twice', async () => {
  const [user] = await makeUsers(world.db, 1);
  const [job] = await makeJobs(world.db, 1, { status: 'queued', userId: user!.id });
  const id = job!.id;
  expect(await runOpsCommand(['cancel', id, '--reason', 'the disk is full'], world.env)).toEqual({
    code: 0,
    stdout: `Cancelled job ${id}, which was queued and is now failed.\n`,
    stderr: '',
  });
  const row = await world.db
    .selectFrom('jobs')
    .select(['status', 'error_message'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  expect(row).toEqual({
    status: 'failed',
    error_message: 'cancelled: cancelled by an operator: the disk is full',
  });
  const { stdout } = await runOpsCommand(['timeline', id], world.env);
  expect(stdout).toMatch(/processing → failed +ops\/\S+@\S+ +cancelled: cancelled by an operator/);
  expect(await runOpsCommand(['cancel', id], world.env)).toMatchObject({
    code: 1,
    stderr: `ops: job ${id} is failed and has no open execution, so there is nothing to cancel\n`,
  });
});

it('ops cancel names a job that does not exist', async () => {
  const id = '00000000-0000-4000-8000-000000000000';
  expect(await runOpsCommand(['cancel', id], world.env)).toMatchObject({
    code: 1,
    stderr: `ops: there is no job ${id}\n`,
  });
});
