import { describe, expect, it } from '@jest/globals';
import { makeJobs } from '@pasteflow/postgres/testing';
import { runOpsCommand } from '../src/operations/commands/run-ops-command.ts';
import { useWorldWithPage } from './page/open-page.ts';

const { world, page } = useWorldWithPage();

const ops = (...args: string[]) => runOpsCommand(args, world.env);

async function jobIn(status: 'failed' | 'completed'): Promise<string> {
  const [job] = await makeJobs(world.db, 1, { userId: world.userId, jobType: 'export', status });
  return job!.id;
}

const retryOf = async (id: string) =>
  await world.db
    .selectFrom('jobs')
    .select(['id', 'user_id', 'status'])
    .where('retry_of', '=', id)
    .executeTakeFirstOrThrow();

describe('retry of a job by an operator', () => {
  it('makes a new job of the same user, and the timelines of both name the other', async () => {
    const id = await jobIn('failed');
    const { code, stdout } = await ops('retry', id, '--reason', 'S3 is back');
    const made = await retryOf(id);
    expect([code, stdout]).toEqual([0, `Retried job ${id} as job ${made.id}.\n`]);
    expect(made).toMatchObject({ user_id: world.userId, status: 'queued' });
    expect((await ops('timeline', id)).stdout).toContain(`; retried as job ${made.id}\n`);
    expect((await ops('timeline', made.id)).stdout).toContain(`; a retry of job ${id}\n`);
    const again = await ops('retry', id);
    expect([again.code, again.stderr]).toEqual([
      1,
      expect.stringContaining(`was retried as job ${made.id}.`),
    ]);
    expect(
      await world.db
        .selectFrom('operator_actions')
        .select(['action', 'subject', 'reason'])
        .orderBy('id')
        .execute(),
    ).toEqual([
      { action: 'retry-job', subject: id, reason: 'S3 is back' },
      { action: 'retry-job', subject: id, reason: 'no reason given' },
    ]);
  });

  it('is refused for a job that is not failed', async () => {
    const id = await jobIn('completed');
    expect((await ops('retry', id)).stderr).toContain(
      'This job is completed. Only failed and partial jobs are retried.',
    );
  });

  it('is offered on the page of the job while it is possible', async () => {
    const id = await jobIn('failed');
    const link = `href="/confirm/retry-job?subject=${id}"`;
    expect((await page.call(`/jobs/${id}`)).body).toContain(link);
    expect((await page.call(`/confirm/retry-job?subject=${id}`)).body).toContain('This retries 1 job');
    expect(await page.act('retry-job', id)).toMatch(/^Retried job /);
    const { body } = await page.call(`/jobs/${id}`);
    expect(body).not.toContain(link);
    expect(body).toContain('<dt>Retried as job</dt>');
    expect((await page.call(`/confirm/retry-job?subject=${id}`)).body).toContain('There is nothing to do');
  });
});
