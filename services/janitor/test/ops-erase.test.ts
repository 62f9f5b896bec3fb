import { describe, expect, it } from '@jest/globals';
import { makeJobs, makePastes, makeUsers } from '@pasteflow/postgres/testing';
import { runOpsCommand } from '../src/operations/commands/run-ops-command.ts';
import { openPage } from './page/open-page.ts';
import { useWorld } from './world.ts';

const world = useWorld();

const ops = (...args: string[]) => runOpsCommand(['erase', ...args, '--reason', 'ticket 4711'], world.env);
const erasures = () => world.db.selectFrom('erasures').select('user_id').execute();
const recorded = () => world.db.selectFrom('operator_actions').selectAll().execute();

async function newOwner() {
  const [user] = await makeUsers(world.db, 1);
  await makePastes(world.db, 2, { status: 'PROCESSED', userId: user!.id });
  await makeJobs(world.db, 1, { userId: user!.id, status: 'queued' });
  return user!;
}

describe('npm run ops -- erase', () => {
  it('shows what the user has, and changes nothing without --yes', async () => {
    const { name } = await newOwner();
    expect(await ops(name)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('the user with 2 pastes, 1 job and 0 tokens'),
      stderr: expect.stringContaining('repeat the command with --yes'),
    });
    expect(await erasures()).toEqual([]);
    expect(await recorded()).toEqual([]);
  });

  it('erases with --yes, and records the id and never the name', async () => {
    const { id, name } = await newOwner();
    expect(await ops(name, '--yes')).toMatchObject({ code: 0, stdout: expect.stringContaining(id) });
    expect(await erasures()).toEqual([{ user_id: id }]);
    const [action, ...others] = await recorded();
    expect(others).toEqual([]);
    expect(action).toMatchObject({ action: 'erase', subject: id, reason: 'ticket 4711' });
    expect(JSON.stringify(action)).not.toContain(name);
    expect(await ops(name, '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no user'),
    });
  });

  it('lists the ids of erased users, with which a script erases each again after a restore', async () => {
    const [first, second] = [await newOwner(), await newOwner()];
    for (const { name } of [first, second]) await ops(name, '--yes');
    const list = (...args: string[]) => runOpsCommand(['erasures', ...args], world.env);
    const all = await list();
    expect(all).toMatchObject({ code: 0, stdout: `${first.id}\n${second.id}\n` });
    const { created_at: at } = await world.db
      .selectFrom('erasures')
      .select('created_at')
      .where('user_id', '=', second.id)
      .executeTakeFirstOrThrow();
    expect((await list('--since', at.toISOString())).stdout).toBe(`${second.id}\n`);
    expect((await list('--since', 'yesterday')).code).toBe(64);

    // The restored database has the users, and no erasure.
    await world.reset();
    const back = await makeUsers(world.db, 1);
    expect(await ops('--user', back[0]!.id)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('0 pastes'),
    });
    expect(await ops('--user', back[0]!.id, '--yes')).toMatchObject({ code: 0 });
    expect(await erasures()).toEqual([{ user_id: back[0]!.id }]);
    // Run twice, it does no harm.
    expect(await ops('--user', back[0]!.id, '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('or the user is erased'),
    });
  });

  it('says that the bucket keeps old versions, here and in the status', async () => {
    const { name } = await newOwner();
    const body = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
    const remove = world.proxy.rule(
      { method: 'GET', path: /[?&]versioning/ },
      { kind: 'answer', status: 200, body },
    );
    const kept = expect.stringContaining('The bucket keeps old versions for ever');
    expect(await ops(name, '--yes')).toMatchObject({ code: 0, stdout: kept });
    expect(await runOpsCommand(['status'], world.env)).toMatchObject({ code: 0, stdout: kept });
    remove();
    expect(await runOpsCommand(['status'], world.env)).toMatchObject({
      stdout: expect.not.stringContaining('old versions'),
    });
  });

  it.each([
    ['an unknown name', () => 'nobody'],
    ['the beginning of a name', (name: string) => name.slice(0, -1)],
    ['a name in other case', (name: string) => name.toUpperCase()],
    ['a pattern', () => '%'],
  ])('refuses %s', async (_what, change) => {
    const { name } = await newOwner();
    expect(await ops(change(name), '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the name must match exactly'),
    });
    expect(await recorded()).toEqual([]);
  });

  it('is an action of the operations page, too, which asks with the counts', async () => {
    const { id } = await newOwner();
    const page = await openPage(world);
    try {
      expect((await page.call(`/users/${id}`)).body).toContain(`/confirm/erase?subject=${id}`);
      expect((await page.call(`/confirm/erase?subject=${id}`)).body).toContain(
        '2 pastes, 1 job and 0 tokens',
      );
      expect(await page.act('erase', id, { count: '4' })).toContain(`user ${id}`);
    } finally {
      await page.stop();
    }
  });
});
