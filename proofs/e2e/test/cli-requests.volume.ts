import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { startCluster, type Cluster, type User } from '../src/index.ts';
import { BuiltCli, findNode, NOTHING_BUT_WAITS, type CliOptions } from './support/packed-cli.ts';

jest.setTimeout(240_000); // on a busy machine a process takes seconds to start

let cluster: Cluster;
let alice: User;
let cli: BuiltCli;
let folder: string;
beforeAll(async () => {
  [cluster, cli] = await Promise.all([startCluster({ env: { ANONYMOUS_PASTES: 'deny' } }), BuiltCli.build()]);
  alice = await cluster.user('alice');
});
beforeEach(async () => {
  folder = await mkdtemp(join(cli.folder, 'test-'));
});
afterAll(async () => {
  await cluster?.stop();
  await cli?.remove();
});

const server = () => `http://127.0.0.1:${cluster.apis[0]!.env.API_PORT}`;
const asAlice = (args: readonly string[], more: Partial<CliOptions> = {}) =>
  cli.run(args, { server: server(), cwd: folder, token: alice.token, ...more });
/** Somebody on another machine, without a login, whose usual server is another one. */
const asStranger = (args: readonly string[], more: Partial<CliOptions> = {}) =>
  cli.run(args, { server: 'http://127.0.0.1:1', cwd: folder, home: folder, ...more });

const idOf = (link: string) => /requests\/(\w{22})#/.exec(link)![1]!;

describe.each([
  ['the Node of this repository', process.execPath],
  ['Node 20', findNode(20)],
])('with %s, pasteflow', (_name, node) => {
  const test = node === undefined ? it.skip : it;
  const using = node === undefined ? {} : { node };

  test('asks strangers for secrets, and opens what they deposit, until the request is used up', async () => {
    const asked = await asAlice(['ask', 'The key, please.', '--deposits', '2'], using);
    expect(asked).toMatchObject({ code: 0, stdout: expect.stringMatching(/^http:\S+#[\w-]{87}\n$/) });
    const link = asked.stdout.trim();
    const first = await asStranger(['deposit', link], { stdin: 'hunter2', ...using });
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining('“The key, please.”') });
    const bytes = randomBytes(300_000);
    await writeFile(join(folder, 'key.bin'), bytes);
    const second = await asStranger(['deposit', link, 'key.bin'], using);
    expect(second.code).toBe(0);
    const [one, other] = [first, second].map(({ stdout }) => stdout.trim());

    const third = await asStranger(['deposit', link], { stdin: 'too late', ...using });
    expect(third).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('Ask whoever sent you'),
    });
    expect(await asAlice(['requests'], using)).toMatchObject({
      stdout: expect.stringMatching(/USED_UP +2 of 2 deposits/),
    });
    expect(await asAlice(['answers', idOf(link), one!], using)).toEqual({
      code: 0,
      signal: null,
      stdout: 'hunter2',
      stderr: '',
    });
    expect((await asAlice(['answers', idOf(link), '-o', 'secrets'], using)).code).toBe(0);
    expect(await readFile(join(folder, 'secrets', one!, 'paste.txt'), 'utf8')).toBe('hunter2');
    expect(await readFile(join(folder, 'secrets', other!, 'key.bin'))).toEqual(bytes);
    // The receipt opens nothing for anybody else.
    expect(await asStranger(['--server', server(), 'cat', one!])).toMatchObject({ code: 1, stdout: '' });
  });

  test('opens with the private link alone, on another machine, and takes nothing after cancel', async () => {
    const link = (await asAlice(['ask'], using)).stdout.trim();
    await asStranger(['deposit', link], { stdin: 'hunter2', ...using });
    const id = idOf((await asAlice(['ask', '-d', '3'], using)).stdout);
    const own = (await asAlice(['answers', idOf(link), '--link'], using)).stdout;
    const elsewhere = { home: folder, ...using };
    expect(await asAlice(['answers', idOf(link)], elsewhere)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not on this machine'),
    });
    expect(await asAlice(['answers', '-'], { stdin: own, ...elsewhere })).toMatchObject({
      code: 0,
      stdout: 'hunter2',
    });
    expect(await asAlice(['cancel', id], using)).toMatchObject({ code: 0, stdout: 'CANCELLED\n' });
    const closed = await asStranger(['deposit', link.replace(idOf(link), id)], { stdin: 'x', ...using });
    expect(closed).toMatchObject({ code: 1, stderr: expect.stringContaining('takes no deposits') });
  });
});

it('makes one deposit although the api is killed before it answers', async () => {
  const link = (await asAlice(['ask', '-d', '20'])).stdout.trim();
  const content = randomBytes(2_000_000);
  const [api] = cluster.apis;
  const { ended } = cli.start(['deposit', link], {
    server: server(),
    cwd: folder,
    stdin: content,
  });
  await cluster.until(() =>
    api!.log.some(({ method, route }) => method === 'GET' && route === '/v1/requests/:id'),
  );
  await api!.kill();
  await api!.start();
  const { code, stdout, stderr } = await ended;
  expect([code, stderr.split('\n').filter((line) => !NOTHING_BUT_WAITS.test(`${line}\n`)).length]).toEqual([
    0, 3,
  ]);
  const deposits = (await asAlice(['answers', idOf(link), '--json'])).stdout.trim().split('\n');
  expect(deposits.map((line) => (JSON.parse(line) as { short_code: string }).short_code)).toEqual([
    stdout.trim(),
  ]);
});
