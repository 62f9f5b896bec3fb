import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { makeJobs, makePastes, makeUsers } from '@pasteflow/postgres/testing';
import { sql } from 'kysely';
import { runOpsCommand } from '../src/operations/commands/run-ops-command.ts';
import { openPage } from './page/open-page.ts';
import { createWorld, eventually, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());
beforeEach(() => world.reset());

const ops = (...args: string[]) => runOpsCommand(args, world.env);
const why = ['--reason', 'report 4711'];
const HASH = `sha256:${'0'.repeat(64)}`;

const recorded = () =>
  world.db
    .selectFrom('operator_actions')
    .select(['actor', 'action', 'subject', 'reason', 'outcome'])
    .orderBy('id')
    .execute();

describe('an action of npm run ops is recorded', () => {
  it('with its operator, reason and outcome, as those of the operations page are', async () => {
    const [user] = await makeUsers(world.db, 1);
    const [paste] = await makePastes(world.db, 2, { status: 'PROCESSED', userId: user!.id });
    const [job] = await makeJobs(world.db, 1, { userId: user!.id, status: 'queued' });
    const code = paste!.shortCode;
    await ops('takedown', code, ...why);
    await ops('takedown', '--user', user!.id, '--yes', ...why);
    await ops('block', HASH, ...why);
    await ops('unblock', HASH, ...why);
    await ops('cancel', job!.id, ...why);
    await ops('retry-dead-letters');
    const since = '2026-11-22T04:00:00.000Z';
    await ops('retry', '--all-failed-since', since, '--yes');
    const actor = expect.stringMatching(/^ops\/\S+@\S+$/);
    const outcome = (text: string) => expect.stringContaining(text);
    const reason = 'report 4711';
    expect(await recorded()).toEqual([
      { actor, action: 'takedown', subject: code, reason, outcome: outcome(`Took ${code} down.`) },
      { actor, action: 'takedown-user', subject: user!.id, reason, outcome: 'Took 1 paste down.' },
      { actor, action: 'block', subject: HASH, reason, outcome: outcome(`Blocked ${HASH}.`) },
      { actor, action: 'unblock', subject: HASH, reason, outcome: `Unblocked ${HASH}.` },
      { actor, action: 'cancel-job', subject: job!.id, reason, outcome: outcome('which was queued') },
      {
        actor,
        action: 'retry-dead-letters',
        subject: null,
        reason: 'no reason given',
        outcome: outcome('moved 0, refused 0'),
      },
      {
        actor,
        action: 'retry-failed',
        subject: `since ${since}`,
        reason: 'no reason given',
        outcome: 'Retried 0, skipped 0.',
      },
    ]);
  });

  it('and shown on the operations page', async () => {
    const [paste] = await makePastes(world.db, 1, { status: 'PROCESSED' });
    await ops('takedown', paste!.shortCode, '--reason', '<b>spam</b>');
    const page = await openPage(world);
    const { body } = await page.call('/');
    await page.stop();
    expect(body).toContain('&lt;b&gt;spam&lt;/b&gt;');
    expect(body).toContain(`Took ${paste!.shortCode} down.`);
  });

  it('when it is refused', async () => {
    expect((await ops('retry', 'aaaaaaaaaa', ...why)).code).toBe(1);
    expect(await recorded()).toMatchObject([
      {
        action: 'retry',
        subject: 'aaaaaaaaaa',
        outcome: expect.stringMatching(/^Failed: paste aaaaaaaaaa is/),
      },
    ]);
  });

  it('when it fails', async () => {
    await sql`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'broken'; END $$`.execute(
      world.db,
    );
    await sql`CREATE TRIGGER refuse BEFORE INSERT ON content_blocks EXECUTE FUNCTION refuse()`.execute(
      world.db,
    );
    try {
      await ops('block', HASH, ...why).catch(() => {});
      expect(await recorded()).toMatchObject([{ action: 'block', outcome: 'Failed: broken' }]);
    } finally {
      await sql`DROP FUNCTION refuse CASCADE`.execute(world.db);
    }
  });

  it('and not begun where the settings that it needs are missing', async () => {
    const [user] = await makeUsers(world.db, 1);
    for (const command of [
      ['erase', '--user', user!.id, '--yes', ...why],
      ['retry-dead-letters'],
      ['adopt-bucket', '--yes'],
      ['restore-objects'],
      ['invite', 'anna'],
      ['add-webhook', 'https://hooks.example.org', 'report.opened'],
    ])
      expect([command, await runOpsCommand(command, { DATABASE_URL: world.env.DATABASE_URL })]).toMatchObject(
        [command, { code: 78, stderr: expect.stringContaining('AWS_ENDPOINT_URL') }],
      );
    expect(await recorded()).toEqual([]);
    expect(await world.db.selectFrom('erasures').selectAll().execute()).toEqual([]);
  });

  it('only when it may change something', async () => {
    const [user] = await makeUsers(world.db, 1);
    const [paste] = await makePastes(world.db, 1, { status: 'PROCESSED', userId: user!.id });
    await ops('status');
    await ops('timeline', paste!.shortCode);
    await ops('blocks');
    await ops('takedown', '--user', user!.id, ...why);
    await ops('retry', '--all-failed-since', '2026-11-22T04:00:00Z');
    expect(await recorded()).toEqual([]);
  });
});

describe('without --yes', () => {
  it('nothing is done and nothing is recorded, also when the count is 0', async () => {
    const [user] = await makeUsers(world.db, 1);
    const takedown = ['takedown', '--user', user!.id, ...why];
    const retry = ['retry', '--all-failed-since', '2026-11-22T04:00:00Z'];
    expect(await ops(...takedown)).toMatchObject({
      code: 0,
      stdout: `The user ${user!.id} has 0 pastes that can be taken down.\n`,
    });
    expect(await ops(...retry)).toMatchObject({
      code: 0,
      stdout: '0 FAILED pastes that failed since 2026-11-22T04:00:00.000Z can be retried.\n',
    });
    expect(JSON.parse((await ops(...takedown, '--json')).stdout)).toEqual({ standing: 0 });
    expect(JSON.parse((await ops(...retry, '--json')).stdout)).toEqual({ retryable: 0 });
    expect(await recorded()).toEqual([]);
  });

  it('a paste stays that the user creates right after the count of 0', async () => {
    const [user] = await makeUsers(world.db, 1);
    // The count waits for the first lock, and whatever would follow the count for the second one.
    const first = await world.db.startTransaction().execute();
    const second = await world.db.startTransaction().execute();
    await sql`LOCK TABLE pastes IN ACCESS EXCLUSIVE MODE`.execute(first);
    const answer = ops('takedown', '--user', user!.id, ...why);
    await untilWaiting(1);
    const locked = sql`LOCK TABLE pastes IN ACCESS EXCLUSIVE MODE`.execute(second);
    await untilWaiting(2);
    await first.rollback().execute();
    await locked;
    await makePastes(second, 1, { status: 'PROCESSED', userId: user!.id });
    await second.commit().execute();
    expect(await answer).toMatchObject({ code: 0 });
    expect(await world.db.selectFrom('takedowns').selectAll().execute()).toEqual([]);
    expect(await recorded()).toEqual([]);
  });
});

describe('an action of npm run ops that can’t be recorded', () => {
  it('is not done', async () => {
    await sql`ALTER TABLE operator_actions RENAME TO away`.execute(world.db);
    try {
      await ops('block', HASH, ...why).catch(() => {});
    } finally {
      await sql`ALTER TABLE away RENAME TO operator_actions`.execute(world.db);
    }
    expect(await world.db.selectFrom('content_blocks').selectAll().execute()).toEqual([]);
  });

  it('is done and says so when only its outcome is missing', async () => {
    await sql`ALTER TABLE operator_actions ADD CHECK (outcome IS NULL) NOT VALID`.execute(world.db);
    try {
      const { code, stderr } = await ops('block', HASH, ...why);
      expect([code, stderr]).toEqual([0, expect.stringContaining('ops: the outcome was not recorded: ')]);
    } finally {
      await sql`ALTER TABLE operator_actions DROP CONSTRAINT operator_actions_outcome_check`.execute(
        world.db,
      );
    }
  });
});

async function untilWaiting(sessions: number): Promise<void> {
  await eventually(async () => {
    const { rows } =
      await sql`SELECT FROM pg_locks WHERE NOT granted AND relation = 'pastes'::regclass`.execute(world.db);
    return rows.length === sessions;
  });
}
