import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createWebhook } from '@pasteflow/postgres';
import { makeDeliveries, makePastes, makeUsers } from '@pasteflow/postgres/testing';
import { webhookSecret } from '@pasteflow/service-kit';
import { runOpsCommand } from '../src/operations/commands/run-ops-command.ts';
import { readWebhooks } from '../src/operations/reports/webhooks.ts';
import { openPage } from './page/open-page.ts';
import { createWorld, makeReport, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());
beforeEach(() => world.reset());

const KEY = 'k'.repeat(32);
const PATH = 'T0p-secret';
const why = ['--reason', 'it floods its owner'];

const ops = (...args: string[]) => runOpsCommand(args, { ...world.env, WEBHOOK_KEY: KEY });
const add = (...args: string[]) => ops('add-webhook', `https://hooks.example.org/${PATH}`, ...args);

async function ofUser(): Promise<{ readonly id: string; readonly userId: string }> {
  const [user] = await makeUsers(world.db, 1);
  const events = ['paste.stored', 'job.ended'] as const;
  const endpoint = await createWebhook(world.db, {
    userId: user!.id,
    url: `https://user.example.org/${PATH}`,
    events,
  });
  return { id: endpoint!.id, userId: user!.id };
}

const recorded = () =>
  world.db
    .selectFrom('operator_actions')
    .select(['action', 'subject', 'reason', 'outcome'])
    .orderBy('id')
    .execute();

describe('ops add-webhook', () => {
  it('adds an endpoint that is told of reports, shows its secret once, and records neither URL nor secret', async () => {
    const { code, stdout } = await add('report.opened');
    const [, id, secret] = /^Added the endpoint (\S+)\. Its secret, .*:\n(whsec_\S+)\n$/.exec(stdout) ?? [];
    expect([code, secret]).toEqual([0, webhookSecret(KEY, id ?? '', 1)]);
    expect(await recorded()).toEqual([
      {
        action: 'add-webhook',
        subject: null,
        reason: 'no reason given',
        outcome: `Added the endpoint ${id} at https://hooks.example.org for report.opened.`,
      },
    ]);
    await makePastes(world.db, 1, { status: 'PROCESSED' });
    await makeReport(world.db, 0);
    const { stdout: listed } = await ops('webhooks');
    expect(listed).toMatch(
      new RegExp(`^${id} +operators +https://hooks\\.example\\.org +report\\.opened +on +- +1$`, 'm'),
    );
    expect(listed).not.toContain(PATH);
    const { secret: _, ...other } = JSON.parse((await add('upload.failed', '--json')).stdout);
    expect(other).toEqual({
      id: expect.any(String),
      origin: 'https://hooks.example.org',
      events: ['upload.failed'],
    });
  });

  it('reads the URL from standard input, which no list of processes shows', async () => {
    const input = Readable.from([`https://hooks.example.org/${PATH}\n`]) as unknown as typeof process.stdin;
    const stdin = jest.spyOn(process, 'stdin', 'get').mockReturnValue(input);
    expect(await ops('add-webhook', '-', 'report.opened')).toMatchObject({ code: 0 });
    stdin.mockRestore();
    expect(await readWebhooks(world.db)).toMatchObject([{ url: `https://hooks.example.org/${PATH}` }]);
  });

  it.each([
    ['http://hooks.example.org/x', 'the URL is not https on port 443'],
    ['https://10.0.0.1/x', 'the URL is not public'],
    ['https://localhost/x', 'the URL is not public'],
  ])('refuses %s in words that do not repeat it', async (url, words) => {
    const { code, stdout, stderr } = await ops('add-webhook', url, 'report.opened');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`ops: ${words}`);
    expect(stderr).not.toContain(url);
    const listed = { ...world.env, WEBHOOK_KEY: KEY, WEBHOOK_ORIGINS: new URL(url).origin };
    expect(await runOpsCommand(['add-webhook', url, 'report.opened'], listed)).toMatchObject({ code: 0 });
  });

  it('says that webhooks are off, and that ten are enough', async () => {
    const off = await runOpsCommand(['add-webhook', 'https://hooks.example.org', 'report.opened'], world.env);
    expect(off).toMatchObject({ code: 1, stderr: expect.stringContaining('ops: webhooks are off') });
    for (let n = 0; n < 10; n += 1) await add('report.opened');
    const more = await add('report.opened');
    expect(more.stderr).toBe('ops: the operators have 10 endpoints already; remove one\n');
  });
});

describe('ops webhooks', () => {
  it('shows whose each is, and its origin alone', async () => {
    const { id, userId } = await ofUser();
    await makeDeliveries(world.db, id, 3, { status: 'WAITING' });
    expect((await ops('webhooks')).stdout).toMatch(
      new RegExp(
        `^${id} +user-\\S+ +https://user\\.example\\.org +paste\\.stored, job\\.ended +on +- +3$`,
        'm',
      ),
    );
    const { stdout } = await ops('webhooks', '--json');
    expect(stdout).not.toContain(PATH);
    expect(JSON.parse(stdout)).toMatchObject([
      { id, user_id: userId, origin: 'https://user.example.org', status: 'on', waiting: 3 },
    ]);
  });

  it('shows more than a statement reads', async () => {
    for (let n = 0; n < 5; n += 1) await ofUser();
    const ids = (await readWebhooks(world.janitorDb, 2)).map(({ id }) => id);
    expect(new Set(ids).size).toBe(5);
  });
});

describe('ops switch-off-webhook', () => {
  it('tells the endpoint nothing more, once, and is recorded with its reason', async () => {
    const { id, userId } = await ofUser();
    const outcome = `Switched the endpoint ${id} off. It is one of the user ${userId} at https://user.example.org.`;
    expect(await ops('switch-off-webhook', id, ...why)).toMatchObject({ code: 0, stdout: `${outcome}\n` });
    expect((await ops('webhooks')).stdout).toMatch(/ off since \S+: operator /);
    const again = await ops('switch-off-webhook', id, ...why);
    expect([again.code, again.stderr]).toEqual([
      1,
      `ops: an operator has switched the endpoint ${id} off before\n`,
    ]);
    expect((await recorded())[0]).toEqual({
      action: 'switch-off-webhook',
      subject: id,
      reason: 'it floods its owner',
      outcome,
    });
  });

  it('is an action of the operations page, which finds an endpoint by its id', async () => {
    const { id } = await ofUser();
    await makeDeliveries(world.db, id, 2, { status: 'WAITING' });
    const page = await openPage(world);
    const found = await page.call(`/find?q=${id}`);
    expect([found.status, found.headers.location]).toEqual([
      303,
      `/confirm/switch-off-webhook?subject=${id}`,
    ]);
    const { body } = await page.call(`/confirm/switch-off-webhook?subject=${id}`);
    expect(body).toContain('Deliveries that wait and will fail: 2.');
    expect(body).not.toContain(PATH);
    expect(await page.act('switch-off-webhook', id)).toMatch(/^Switched the endpoint/);
    await page.stop();
  });
});

describe('ops switch-on-webhook', () => {
  it.each(['ours', 'theirs'])('tells an endpoint that is off what happens from now on: %s', async (whose) => {
    if (whose === 'ours') await add('report.opened');
    const id = whose === 'ours' ? (await readWebhooks(world.db))[0]!.id : (await ofUser()).id;
    const on = () => ops('switch-on-webhook', id);
    expect(await on()).toMatchObject({ code: 1, stderr: `ops: the endpoint ${id} is on already\n` });
    await ops('switch-off-webhook', id, ...why);
    const page = await openPage(world);
    expect((await page.call(`/find?q=${id}`)).headers.location).toBe(
      `/confirm/switch-on-webhook?subject=${id}`,
    );
    await page.stop();
    expect((await on()).stdout).toMatch(new RegExp(`^Switched the endpoint ${id} on\\. It is one of the `));
    expect(await readWebhooks(world.db)).toMatchObject([{ id, switchedOffAt: null, switchedOffFor: null }]);
    expect((await recorded()).at(-1)).toMatchObject({ action: 'switch-on-webhook', subject: id });
  });
});

describe('ops remove-webhook', () => {
  it('removes an endpoint of the operators, and none of a user', async () => {
    const { id: theirs } = await ofUser();
    await add('report.opened');
    const [own] = (await readWebhooks(world.db)).filter(({ userId }) => userId === null);
    expect((await ops('remove-webhook', own!.id)).stdout).toBe(`Removed the endpoint ${own!.id}.\n`);
    expect(await ops('remove-webhook', theirs)).toMatchObject({
      code: 1,
      stderr: `ops: the operators have no endpoint ${theirs}; one of a user can be switched off\n`,
    });
    expect((await readWebhooks(world.db)).map(({ id }) => id)).toEqual([theirs]);
  });
});

describe('the timeline of a delivery', () => {
  it('is shown by the command and the page, without the URL', async () => {
    const { id: endpointId } = await ofUser();
    const [made] = await makeDeliveries(world.db, endpointId, 1, { status: 'FAILED' });
    const { stdout } = await ops('timeline', made!.id);
    expect(stdout).toContain(
      `delivery ${made!.id} of paste.stored made-1 to the endpoint ${endpointId}, created`,
    );
    expect(stdout).toContain('FAILED: endpoint failed: answered 500');
    const page = await openPage(world);
    for (const id of [made!.id, made!.executionId])
      expect((await page.call(`/find?q=${id}`)).headers.location).toBe(`/deliveries/${made!.id}`);
    const { body } = await page.call(`/deliveries/${made!.id}`);
    expect(body).toContain(`<h1>Delivery ${made!.id}</h1>`);
    expect(stdout + body).not.toContain('user.example.org');
    await page.stop();
  });
});
