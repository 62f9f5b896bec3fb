import { createHash } from 'node:crypto';
import { objectKeyOf } from '@pasteflow/domain';
import { describe, expect, it } from '@jest/globals';
import { makeJobs, makePastes, makeUsers } from '@pasteflow/postgres/testing';
import { runOpsCommand } from '../src/operations/commands/run-ops-command.ts';
import { createCleanup } from '../src/sweeps/cleanup.ts';
import { useWorld, deletionStates, running } from './world.ts';

const world = useWorld();

const ops = (...args: string[]) => runOpsCommand(args, world.env);
const bad = Buffer.from('bad');
const why = ['--reason', 'reported by an antivirus', '--class', 'malware'];

async function takenDown(): Promise<string[]> {
  const rows = await world.db
    .selectFrom('pastes')
    .select('short_code')
    .where('taken_down_for', 'is not', null)
    .execute();
  return rows.map(({ short_code }) => short_code).toSorted();
}

describe('ops takedown CODE', () => {
  it('takes the paste down, shows who and why in its timeline, and leaves the object to the cleanup', async () => {
    const [paste] = await makePastes(world.db, 2, { status: 'PROCESSED', content: bad });
    const code = paste!.shortCode;
    await world.store.put(objectKeyOf(code), bad, { sha256: createHash('sha256').update(bad).digest() });
    const { code: exit, stdout } = await ops('takedown', code, ...why);
    expect([exit, stdout]).toEqual([0, expect.stringMatching(`^Took ${code} down. It has no owner.`)]);
    expect(await takenDown()).toEqual([code]);
    const cleanup = createCleanup({
      db: world.janitorDb,
      store: world.store,
      actor: 'janitor/a',
      logger: world.log,
    });
    await cleanup.runOnce(running());
    expect(await deletionStates(world)).toEqual({ DELETED: 1, NOT_EXPIRED: 1 });
    expect(await world.store.get(objectKeyOf(code))).toBeNull();
    const line = /^Taken down for malware at \S+ by ops\/\S+@\S+: reported by an antivirus$/m;
    expect((await ops('timeline', code)).stdout).toMatch(line);
    expect(JSON.parse((await ops('timeline', code, '--json')).stdout)).toMatchObject({
      takedown: {
        class: 'malware',
        reason: 'reported by an antivirus',
        actor: expect.stringMatching(/^ops\//),
      },
    });
    expect((await ops('takedown', code, ...why)).stdout).toBe(`${code} was taken down before.\n`);
  });

  it('works while the upload is under way, and says so', async () => {
    const [user] = await makeUsers(world.db, 1);
    const [paste] = await makePastes(world.db, 1, { status: 'IN_PROGRESS', userId: user!.id });
    const { stdout } = await ops('takedown', paste!.shortCode, ...why);
    expect(stdout).toContain(
      `Its owner is the user ${user!.id}. The cleanup deletes its content when its upload has ended.`,
    );
    const [other] = await makePastes(world.db, 1, { status: 'IN_PROGRESS', userId: user!.id });
    expect(JSON.parse((await ops('takedown', other!.shortCode, ...why, '--json')).stdout)).toEqual({
      taken_down: 1,
      before: 0,
      content_hash: expect.stringMatching(/^sha256:/),
      user_id: user!.id,
    });
  });

  it('exits with 1 for a paste that does not exist', async () => {
    expect(await ops('takedown', 'nothing', ...why)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'ops: there is no paste nothing\n',
    });
  });
});

describe('ops takedown --user', () => {
  it('only counts without --yes; with it takes down all of the user and nobody else, and shows its progress', async () => {
    const [user, other] = await makeUsers(world.db, 2);
    const theirs = await makePastes(world.db, 1100, { status: 'PROCESSED', userId: user!.id });
    await makePastes(world.db, 3, { status: 'PROCESSED', userId: other!.id });
    const counted = await ops('takedown', '--user', user!.id, ...why);
    expect(counted).toEqual({
      code: 1,
      stdout: `The user ${user!.id} has 1,100 pastes that can be taken down.\n`,
      stderr: 'ops: nothing was changed. To take them down, repeat the command with --yes\n',
    });
    expect(await takenDown()).toEqual([]);
    const lines: string[] = [];
    const args = ['takedown', '--user', user!.id, ...why, '--yes'];
    const { code, stdout } = await runOpsCommand(args, world.env, (line) => lines.push(line));
    expect([code, stdout, lines]).toEqual([
      0,
      'Took 1,100 pastes down.\n',
      ['ops: 1000 of 1100 pastes taken down'],
    ]);
    expect(await takenDown()).toEqual(theirs.map(({ shortCode }) => shortCode).toSorted());
    expect((await ops(...args)).stdout).toBe('Took 0 pastes down.\n');
  });
});

describe('ops block', () => {
  it('blocks the content of a paste or a hash, lists the blocks, and lifts them', async () => {
    const [paste] = await makePastes(world.db, 1, { status: 'PROCESSED', content: Buffer.from('bad') });
    const { content_hash: hash } = await world.db
      .selectFrom('pastes')
      .select('content_hash')
      .executeTakeFirstOrThrow();
    expect((await ops('blocks')).stdout).toBe('No content is blocked.\n');
    expect((await ops('block', paste!.shortCode, ...why)).stdout).toContain(`Blocked ${hash}.`);
    expect((await ops('block', hash, ...why)).stdout).toBe(`${hash} was blocked before.\n`);
    expect((await ops('blocks')).stdout).toMatch(
      /^sha256:\w+ +malware +\S+ +ops\/\S+ +reported by an antivirus$/m,
    );
    expect(JSON.parse((await ops('blocks', '--json')).stdout)).toMatchObject([{ content_hash: hash }]);
    const lift = ['unblock', hash.slice('sha256:'.length), '--reason', 'a mistake'];
    expect(await ops(...lift)).toMatchObject({ code: 0, stdout: `Unblocked ${hash}.\n` });
    expect(await ops(...lift)).toMatchObject({ code: 1, stderr: `ops: ${hash} is not blocked\n` });
    expect(await takenDown()).toEqual([]);
    expect(await ops('block', 'nothing', ...why)).toMatchObject({
      code: 1,
      stderr: 'ops: there is no paste nothing\n',
    });
  });
});

describe('ops cancel', () => {
  it('ends the job, tells its owner the reason, and refuses to do it twice', async () => {
    const [user] = await makeUsers(world.db, 1);
    const [job] = await makeJobs(world.db, 1, { status: 'queued', userId: user!.id });
    const id = job!.id;
    expect(await ops('cancel', id, '--reason', 'the disk is full')).toEqual({
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
    const { stdout } = await ops('timeline', id);
    expect(stdout).toMatch(
      /processing → failed +pasteflow_janitor \(ops\/\S+@\S+\) +cancelled: cancelled by an operator/,
    );
    expect(await ops('cancel', id)).toMatchObject({
      code: 1,
      stderr: `ops: job ${id} is failed and has no open execution, so there is nothing to cancel\n`,
    });
  });

  it('names a job that does not exist', async () => {
    const id = '00000000-0000-4000-8000-000000000000';
    expect(await ops('cancel', id)).toMatchObject({
      code: 1,
      stderr: `ops: there is no job ${id}\n`,
    });
  });
});
