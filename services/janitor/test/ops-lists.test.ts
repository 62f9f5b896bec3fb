import { describe, expect, it } from '@jest/globals';
import { makeJobs, makePastes } from '@pasteflow/postgres/testing';
import { sql } from 'kysely';
import { runOpsCommand } from '../src/operations/commands/run-ops-command.ts';
import { useWorld } from './world.ts';

const world = useWorld();

async function ops(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runOpsCommand(args, world.env);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

const json = async (...args: string[]) => JSON.parse(await ops(...args, '--json')) as Record<string, unknown>;

const nameOfUser = async () =>
  (await world.db.selectFrom('users').select('name').where('id', '=', world.userId).executeTakeFirstOrThrow())
    .name;

describe('the lists of ops', () => {
  it('has the pastes of everybody with their titles and owners, in pages, and never a content', async () => {
    await makePastes(world.db, 1, {
      status: 'PROCESSED',
      shortCodes: ['older'],
      userId: world.userId,
      visibility: 'private',
      content: Buffer.alloc(2048, 'secret'),
    });
    await sql`UPDATE pastes SET title = 'Minutes of', held_at = now()`.execute(world.db);
    await makePastes(world.db, 1, { status: 'FAILED', shortCodes: ['newer'] });
    const name = await nameOfUser();
    const text = await ops('pastes', '--limit', '1');
    expect(text).toMatch(
      /^CODE +STATE +BYTES +CREATED +EXPIRES +OWNER +TITLE\nnewer +failed +15 B +\S+Z +never +- +-\nMore may follow: repeat the command with --after (\S+)\n$/,
    );
    const after = /--after (\S+)/.exec(text)![1]!;
    expect(await ops('pastes', '--limit', '1', '--after', after)).toMatch(
      new RegExp(`^.*\nolder +processed, held +2\\.0 KiB +\\S+ +never +${name} +Minutes of\n$`),
    );
    expect(await json('pastes', 'minutes', '--owner', name)).toEqual({
      pastes: [
        {
          short_code: 'older',
          title: 'Minutes of',
          state: 'processed',
          held: true,
          size_bytes: 2048,
          user_id: world.userId,
          user: name,
          created_at: expect.any(String),
          expires_at: null,
        },
      ],
      next: null,
    });
    expect(await ops('pastes', '--state', 'failed', '--owner', world.userId)).toBe('Nothing was found.\n');
  });

  it('has the users with what they have, and the jobs by state, type and owner', async () => {
    const { userId, db } = world;
    const name = await nameOfUser();
    const [job] = await makeJobs(db, 1, { userId, status: 'failed', jobType: 'export' });
    await makeJobs(db, 1, { userId, status: 'completed', jobType: 'export' });
    expect(await ops('users', name.toUpperCase())).toMatch(
      new RegExp(`^NAME .*\n${name} +- +0 +0 B +2 +0 +\\S+Z +${userId}\n$`),
    );
    expect(await json('users', 'nobody')).toEqual({ users: [], next: null });
    const failed = ['--state', 'failed', '--type', 'export', '--owner', name];
    expect(await ops('jobs', ...failed)).toMatch(
      new RegExp(`^ID .*\n${job!.id} +export +failed +\\d+ % +\\S+ +\\S+ +${name} +made to fail\n$`),
    );
    const { jobs } = await json('jobs');
    expect(jobs).toHaveLength(2);
    expect(await ops('jobs', '--state', 'failed', '--type', 'import')).toBe('Nothing was found.\n');
  });

  it('has the workers that hold leases, what each does, and the erasures that are not done', async () => {
    expect(await ops('workers')).toBe('No worker holds a lease.\n');
    expect(await ops('erasures', '--open')).toBe('No erasure is open.\n');
    const execution = { status: 'RUNNING', workerId: 'upload-worker/a', leaseSeconds: 60 } as const;
    await makePastes(world.db, 1, { status: 'IN_PROGRESS', shortCodes: ['held'], execution });
    await sql`INSERT INTO erasures (user_id, pastes, jobs) VALUES (${world.userId}, 3, 2)`.execute(world.db);
    expect(await ops('workers')).toMatch(/\nupload-worker\/a +1 +0 +0 +0 +\S+Z +\S+Z\n$/);
    expect(await ops('workers', 'upload-worker/a')).toMatch(/\nupload +held +1 +\S+Z +\S+Z\n$/);
    expect(await json('workers')).toMatchObject([
      { worker: 'upload-worker/a', leased_until: expect.any(String) },
    ]);
    expect(await ops('erasures', '--open')).toMatch(
      new RegExp(`^USER .*\n${world.userId} +requested +\\S+Z +0 of 3 +0 of 2\n$`),
    );
    expect(await ops('erasures')).toBe(`${world.userId}\n`);
  });

  it('names a user that is not there', async () => {
    const { code, stderr } = await runOpsCommand(['pastes', '--owner', 'nobody'], world.env);
    expect([code, stderr]).toEqual([1, 'ops: there is no user "nobody"; the name must match exactly\n']);
  });
});
