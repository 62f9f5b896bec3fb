import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { startCluster, type Cluster, type User } from '../src/index.ts';
import { BuiltCli, findNode, type CliOptions } from './support/packed-cli.ts';

jest.setTimeout(240_000); // on a busy machine a process takes seconds to start

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const received: Received[] = [];
/** What the receiver answers, by path; 204 to all others. */
const answers = new Map<string, number>();
const receiver = createServer((req, res) => {
  void text(req).then((body) => {
    const { url: path = '', headers } = req;
    received.push({ path, headers, body });
    res.writeHead(answers.get(path) ?? 204).end();
  });
});

let cluster: Cluster;
let alice: User;
let cli: BuiltCli;
let origin: string;
beforeAll(async () => {
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const env = { WEBHOOK_KEY: randomBytes(32).toString('base64'), WEBHOOK_ORIGINS: origin };
  [cluster, cli] = await Promise.all([startCluster({ env }), BuiltCli.build()]);
});
beforeEach(async () => {
  received.length = 0;
  alice = await cluster.user('alice');
});
afterAll(async () => {
  await cluster?.stop();
  await cli?.remove();
  receiver.closeAllConnections();
  receiver.close();
});

const as = (user: User, args: readonly string[], more: Partial<CliOptions> = {}) =>
  cli.run(args, { server: cluster.http().url, token: user.token, ...more });

/** The id of the only webhook. */
const idOf = (list: string) => /^[\da-f-]{36}(?= )/.exec(list)![0];

/** By https://www.standardwebhooks.com: HMAC-SHA256 of `ID.TIMESTAMP.BODY`. */
function signatureBy(secret: string, { headers, body }: Received): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}

async function arrived(count: number): Promise<Received> {
  await cluster.until(() => received.length >= count);
  return received[count - 1]!;
}

describe.each([
  ['the Node of this repository', process.execPath],
  ['Node 20', findNode(20)],
])('with %s, pasteflow', (_name, node) => {
  const test = node === undefined ? it.skip : it;
  const using = node === undefined ? {} : { node };
  const asAlice = (args: readonly string[], more: Partial<CliOptions> = {}) =>
    as(alice, args, { ...using, ...more });

  test('adds a webhook that verifies what it is sent, sends it again, rotates and removes it', async () => {
    const url = `${origin}/verified?key=hunter2`;
    const added = await asAlice(['webhooks', 'add', '-', 'paste.stored'], { stdin: url });
    expect(added).toMatchObject({ code: 0, stdout: expect.stringMatching(/^whsec_\S{44}\n$/) });
    const secret = added.stdout.trim();
    const list = await asAlice(['webhooks']);
    expect(list).toMatchObject({ code: 0, stdout: expect.stringMatching(/ {2}on {2}paste\.stored {2}http/) });
    expect(list.stdout).toContain(url);
    const id = idOf(list.stdout);

    const { short_code } = await alice.pastes.create('stored', { wait: true });
    const first = await arrived(1);
    expect(JSON.parse(first.body)).toMatchObject({ type: 'paste.stored', data: { short_code } });
    expect(first.headers['webhook-signature']).toBe(signatureBy(secret, first));
    const delivered = await cluster.until(
      () => asAlice(['webhooks', 'deliveries', id]),
      ({ stdout }) => stdout.includes('DELIVERED'),
    );
    expect(delivered.stdout).toMatch(
      new RegExp(`^[\\da-f-]{36} {2}DELIVERED {2}paste\\.stored {2}${short_code} {2}.+ {2}answered 204\\n$`),
    );

    const rotated = await asAlice(['webhooks', 'rotate', id]);
    expect(rotated).toMatchObject({ code: 0, stdout: expect.stringMatching(/^whsec_\S{44}\n$/) });
    expect(rotated.stdout).not.toBe(added.stdout);
    const again = await asAlice(['webhooks', 'resend', id, idOf(delivered.stdout)]);
    expect(again).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^[\da-f-]{36}\n$/) });
    const second = await arrived(2);
    expect([second.headers['webhook-id'], second.body]).toEqual([first.headers['webhook-id'], first.body]);
    expect(String(second.headers['webhook-signature']).split(' ')).toEqual(
      [rotated.stdout.trim(), secret].map((each) => signatureBy(each, second)),
    );

    expect(await asAlice(['webhooks', 'remove', id])).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(await asAlice(['webhooks'])).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(await asAlice(['webhooks', 'deliveries', id])).toMatchObject({ code: 1, stdout: '' });
  });

  test('says why a webhook was switched off, and switches it on again', async () => {
    answers.set('/gone', 410);
    await asAlice(['webhooks', 'add', `${origin}/gone`, 'paste.stored', 'paste.deleted']);
    await alice.pastes.create('stored', { wait: true });
    const off = await cluster.until(
      () => asAlice(['webhooks']),
      ({ stdout }) => / {2}switched off .+: it answered 410 {2}/.test(stdout),
    );
    const id = idOf(off.stdout);
    const { stdout } = await asAlice(['webhooks', 'deliveries', id]);
    expect(stdout).toMatch(/ {2}FAILED {2}paste\.stored {2}\w{10} {2}.+ {2}1 attempt: .*410.*\n$/);
    const resent = await asAlice(['webhooks', 'resend', id, idOf(stdout)]);
    expect(resent).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('Switch it on') });
    expect(await asAlice(['webhooks', 'on', id])).toMatchObject({ code: 0, stdout: 'on\n' });
    answers.delete('/gone');
    expect(await asAlice(['webhooks', 'resend', id, idOf(stdout)])).toMatchObject({ code: 0, stderr: '' });
    await arrived(2);
    await asAlice(['webhooks', 'remove', id]);
  });
});

it('pasteflow says what is wrong with an address, at once and without repeating it', async () => {
  const { stdout, stderr, code } = await as(alice, [
    'webhooks',
    'add',
    'http://10.0.0.1/hunter2',
    'job.ended',
  ]);
  expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(/^pasteflow: url must .*\n$/)]);
  expect(stderr).not.toContain('hunter2');
});

it('pasteflow says at once when there are as many webhooks as there can be, and whose is whose', async () => {
  const add = (user: User) => as(user, ['webhooks', 'add', `${origin}/`, 'paste.read']);
  const bob = await cluster.user('bob');
  for (let n = 0; n < 10; n += 1)
    await bob.webhooks.create({ url: `${origin}/${n}`, events: ['paste.read'] });
  const { code, stdout, stderr } = await add(bob);
  expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(/^pasteflow: .*10 webhooks.*\n$/)]);
  const list = (await as(bob, ['webhooks'])).stdout;
  expect(list.trim().split('\n')).toHaveLength(10);
  for (const command of ['rotate', 'on', 'remove', 'deliveries'])
    expect(await as(alice, ['webhooks', command, idOf(list)])).toMatchObject({ code: 1, stdout: '' });
  expect((await as(bob, ['webhooks'])).stdout).toBe(list);
});
