import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { publicPartOf } from '@pasteflow/sealed/wrapped-keys';
import { problem, reset, useBed } from './support/bed.ts';
import { env, newLinks, REQUEST, requestWith, serveRequest } from './support/requests.ts';

const bed = useBed();

const keyPath = () =>
  join(bed.home, '.local/state/pasteflow/request-keys', encodeURIComponent(bed.url), REQUEST);
const sent = () => JSON.parse(bed.requests.at(-1)!.body.toString()) as object;

describe('pasteflow ask', () => {
  it('prints the link, keeps the private key for its owner alone, and sends no key', async () => {
    serveRequest(bed);
    const asking = ['ask', 'The password, please.', '--deposits', '2', '-e', '12h'];
    const { code, stdout, stderr } = await bed.run(asking, { env });
    expect([code, stderr]).toEqual([0, expect.stringContaining(`pasteflow answers ${REQUEST}`)]);
    expect(sent()).toEqual({ message: 'The password, please.', deposits: 2, expires_in: 43_200 });
    const kept = (await readFile(keyPath(), 'utf8')).trim();
    expect(stdout).toBe(`${bed.url}/requests/${REQUEST}#${publicPartOf(kept)}\n`);
    expect((await stat(keyPath())).mode & 0o777).toBe(0o600);
    expect(stderr).not.toContain(kept);
    const everything = bed.requests
      .map(({ path, body, headers }) => path + body + JSON.stringify(headers))
      .join();
    for (const key of [kept, publicPartOf(kept)]) expect(everything).not.toContain(key);
  });

  it('has kept the key before anybody can have the link, and otherwise closes the request', async () => {
    serveRequest(bed);
    await writeFile(join(bed.home, 'no folder'), '');
    const { code, stdout, stderr } = await bed.run(['ask'], {
      env: { ...env, XDG_STATE_HOME: join(bed.home, 'no folder') },
    });
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('nothing was asked for')]);
    expect(bed.requests.at(-1)).toMatchObject({ method: 'POST', path: `/v1/requests/${REQUEST}/cancel` });
  });

  it('repeats a request whose answer was lost with the same key', async () => {
    bed.script(
      reset,
      (_seen, res) =>
        void res.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(requestWith(bed))),
    );
    expect((await bed.run(['ask'], { env })).code).toBe(0);
    const keys = bed.requests.map(({ headers }) => headers['idempotency-key']);
    expect([keys.length, new Set(keys).size, typeof keys[0]]).toEqual([2, 1, 'string']);
  });

  it.each([
    ['another id', { id: '../../../../etc/passwd' }],
    ['no id', { id: undefined }],
    ['the address of something else', { url: 'https://elsewhere.example/requests/x' }],
  ])('refuses %s from a server, and prints no link', async (_, fields) => {
    serveRequest(bed, [], fields);
    const { code, stdout, stderr } = await bed.run(['ask'], { env });
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      expect.stringContaining('has not answered with a request'),
    ]);
  });

  it('says what the server says when it refuses', async () => {
    bed.script(problem(409, 'request_limit_reached', 'You have 100 requests that take deposits.'));
    const { code, stdout, stderr } = await bed.run(['ask'], { env });
    expect([code, stdout, stderr]).toEqual([1, '', 'pasteflow: You have 100 requests that take deposits.\n']);
  });
});

describe('pasteflow requests', () => {
  it('lists requests with their deposits, and says where the key is not here', async () => {
    serveRequest(bed, [], { message: 'one\u202etwo', deposits_left: 1 });
    const list = await bed.run(['requests'], { env });
    expect(list).toMatchObject({ code: 0, stderr: '' });
    expect(list.stdout).toMatch(
      new RegExp(
        `^${REQUEST} {2}OPEN {2}1 of 2 deposits {2}expires in [\\d,]+ days {2}no key here {2}one\\\\u\\{202e\\}two\\n$`,
      ),
    );
    const link = (await bed.run(['ask'], { env })).stdout.trim();
    expect((await bed.run(['requests'], { env })).stdout).not.toContain('no key here');
    const { stdout } = await bed.run(['requests', '--json'], { env });
    expect(JSON.parse(stdout)).toMatchObject({ id: REQUEST, has_key: true, link });
  });

  it('shows a request whose time is over as expired', async () => {
    serveRequest(bed, [], { expires_at: '2026-11-01T12:00:00.000Z' });
    expect((await bed.run(['requests'], { env })).stdout).toContain('EXPIRED');
  });
});

describe('pasteflow cancel', () => {
  it('closes a request, named by its id or by a link', async () => {
    const { own, publicPart } = await newLinks(bed);
    for (const named of [REQUEST, own, `${bed.url}/requests/${REQUEST}#${publicPart}`]) {
      serveRequest(bed);
      expect(await bed.run(['cancel', named], { env })).toEqual({
        code: 0,
        stdout: 'CANCELLED\n',
        stderr: '',
      });
      expect(bed.requests.at(-1)!.path).toBe(`/v1/requests/${REQUEST}/cancel`);
    }
  });
});

describe('a key that is kept', () => {
  it('can be printed as a private link, and be kept again from it', async () => {
    serveRequest(bed);
    await bed.run(['ask'], { env });
    const printed = await bed.run(['answers', REQUEST, '--link']);
    const kept = await readFile(keyPath(), 'utf8');
    expect(printed).toEqual({ code: 0, stdout: `${bed.url}/my/requests/${REQUEST}#${kept}`, stderr: '' });
    await writeFile(keyPath(), '');
    await chmod(keyPath(), 0o600);
    const other = { ...env, XDG_STATE_HOME: join(bed.home, 'elsewhere') };
    const keeping = await bed.run(['answers', '-', '--keep'], { env: other, stdin: printed.stdout });
    expect(keeping).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('Nothing has arrived yet'),
    });
    expect(await bed.run(['answers', REQUEST, '--link'], { env: other })).toEqual(printed);
  });

  it('never gives way to another one', async () => {
    serveRequest(bed);
    await bed.run(['ask'], { env });
    const kept = await readFile(keyPath(), 'utf8');
    const { own } = await newLinks(bed);
    const { code, stderr } = await bed.run(['answers', own, '--keep'], { env });
    expect([code, stderr]).toEqual([2, expect.stringContaining('Another key of this request')]);
    expect(await readFile(keyPath(), 'utf8')).toBe(kept);
  });

  it('is warned of when others can read it, and refused when it is damaged', async () => {
    serveRequest(bed);
    await bed.run(['ask'], { env });
    await chmod(keyPath(), 0o640);
    const { code, stderr } = await bed.run(['answers', REQUEST, '--json'], { env });
    expect([code, stderr]).toEqual([0, expect.stringContaining(`chmod 600 ${keyPath()}`)]);
    await writeFile(keyPath(), 'half of it');
    expect(await bed.run(['answers', REQUEST], { env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is damaged'),
    });
  });

  it('is said to be lost where there is none, with what can be done', async () => {
    serveRequest(bed);
    const { code, stdout, stderr } = await bed.run(['answers', REQUEST], { env });
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(`pasteflow cancel ${REQUEST}`)]);
    expect(stderr).toContain(`${bed.url}/my/requests/${REQUEST}#KEY`);
    expect(bed.requests).toEqual([]);
  });
});
