import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { openSealed, parseSealedText } from '@pasteflow/sealed';
import { unwrapKey } from '@pasteflow/sealed/wrapped-keys';
import { json, problem, reset, useBed } from './support/bed.ts';
import { newLinks, REQUEST, serveRequest } from './support/requests.ts';

const bed = useBed();

/** With a token for the server of the user, which no link may get. */
const env = { PASTEFLOW_TOKEN: 'pf_of_the_depositor' };

async function newLink(): Promise<{ link: string; privatePart: string }> {
  const { publicPart, privatePart } = await newLinks(bed);
  return { link: `${bed.url}/requests/${REQUEST}#${publicPart}`, privatePart };
}

/** What who asks reads of the last deposit. */
async function opened(privatePart: string) {
  const { content, wrapped_key: wrapped } = JSON.parse(bed.requests.at(-1)!.body.toString()) as Record<
    string,
    string
  >;
  return await openSealed(parseSealedText(content!), await unwrapKey(wrapped!, REQUEST, privatePart));
}

describe('pasteflow deposit', () => {
  it('seals stdin for who asks alone, sends no token and no part of the link, and prints the receipt', async () => {
    const { link, privatePart } = await newLink();
    serveRequest(bed, [], { message: 'The password, please.' });
    const { code, stdout, stderr } = await bed.run(['deposit', link], { stdin: 'hunter2', env });
    expect([code, stdout]).toEqual([0, 'dEpos2Lm9X\n']);
    expect(stderr).toContain(`Anna Adler, as login.example.org says, asks for a secret through ${bed.url}:`);
    expect(stderr).toContain('“The password, please.”');
    expect(await opened(privatePart)).toEqual({
      text: 'hunter2',
      attachments: [],
      title: null,
      syntax: null,
    });
    const everything = bed.requests
      .map(({ path, body, headers }) => path + body + JSON.stringify(headers))
      .join();
    for (const hidden of ['hunter2', 'pf_of', link.split('#')[1]!, 'uthorization'])
      expect(everything).not.toContain(hidden);
  });

  it('seals files with their names', async () => {
    const { link, privatePart } = await newLink();
    serveRequest(bed);
    const paths = [join(bed.home, 'id_rsa'), join(bed.home, 'photo.png')];
    await writeFile(paths[0]!, 'KEY');
    await writeFile(paths[1]!, Buffer.of(0xff, 0xd8));
    expect((await bed.run(['deposit', link, paths[0]!])).code).toBe(0);
    expect(await opened(privatePart)).toMatchObject({ text: 'KEY', title: 'id_rsa' });
    const { stdout } = await bed.run(['deposit', '--json', link, ...paths]);
    expect(JSON.parse(stdout)).toEqual({ receipt: 'dEpos2Lm9X' });
    const { attachments } = await opened(privatePart);
    expect(attachments.map(({ name }) => name)).toEqual(['id_rsa', 'photo.png']);
  });

  it('shows who asks before it asks a person, who can decline, and then sends nothing', async () => {
    const { link, privatePart } = await newLink();
    serveRequest(bed, [], { message: 'a\u001b[2Jb' });
    const declined = await bed.run(['deposit', link], { stdin: ['no\n'], tty: ['stdin', 'stderr'] });
    expect([declined.code, declined.stdout]).toEqual([1, '']);
    expect(declined.stderr).toMatch(
      /“a\\u\{1b\}\[2Jb”\n[^]*Give them a secret\? \[y\/N\] [^]*Nothing was deposited\./,
    );
    expect(bed.requests.map(({ method }) => method)).toEqual(['GET']);
    const file = join(bed.home, 'secret');
    await writeFile(file, 'hunter2');
    expect((await bed.run(['deposit', link, file], { stdin: ['y\n'], tty: ['stdin'] })).code).toBe(0);
    expect(await opened(privatePart)).toMatchObject({ text: 'hunter2' });
    expect((await bed.run(['deposit', '-y', link, file], { stdin: [], tty: ['stdin'] })).code).toBe(0);
  });

  it('repeats a deposit whose answer was lost, with the same key and the same bytes', async () => {
    const { link } = await newLink();
    let lost = false;
    const works = serveRequest(bed);
    bed.script((seen, res) => {
      if (seen.method !== 'POST' || lost) return works(seen, res);
      lost = true;
      return reset(seen, res);
    });
    const { code, stderr } = await bed.run(['deposit', link], { stdin: 'x' });
    expect([code, stderr.includes('may have arrived')]).toEqual([0, false]);
    const [one, other, ...more] = bed.requests.filter(({ method }) => method === 'POST');
    expect(one!.headers['idempotency-key']).toMatch(/^[\da-f]{32}$/);
    expect(other!.headers['idempotency-key']).toBe(one!.headers['idempotency-key']);
    expect([other!.body.equals(one!.body), more]).toEqual([true, []]);
  });

  it('refuses before stdin is read, and sends nothing', async () => {
    const { publicPart, privatePart } = await newLinks(bed);
    const path = `/requests/${REQUEST}#${publicPart}`;
    for (const [link, message] of [
      [`http://paste.example.org${path}`, 'is not encrypted'],
      [`${bed.url}${path}`.slice(0, -1), 'is not complete'],
      [`${bed.url}/requests/${REQUEST}`, 'is not complete'],
      [`${bed.url}/requests/${REQUEST}#${'A'.repeat(87)}`, 'is not complete'],
      [`${bed.url}/my/requests/${REQUEST}#${privatePart}`, 'This is the private link of who asks'],
      [`${bed.url}/q7Zk2Lm9Xa#${publicPart}`, 'This is no link for a deposit'],
      [`${bed.url.replace('//', '//paste.example.org@')}${path}`, 'This is no link for a deposit'],
      [`ftp://paste.example.org${path}`, 'This is no link for a deposit'],
    ] as const) {
      const { code, stdout, stderr } = await bed.run(['deposit', link], { stdin: 'hunter2', env });
      expect([link, code, stdout, stderr]).toEqual([link, 2, '', expect.stringContaining(message)]);
      expect(stderr).not.toContain(privatePart);
    }
    expect(bed.requests).toEqual([]);
  });

  it('names the folder that it is given for a file', async () => {
    const { link } = await newLink();
    serveRequest(bed);
    const { code, stderr } = await bed.run(['deposit', link, bed.home]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${bed.home}: This is a directory.`)]);
    expect(bed.requests.map(({ method }) => method)).toEqual(['GET']);
  });

  it('names no option of other commands for names that can not be', async () => {
    const { link } = await newLink();
    const many = Array.from({ length: 101 }, (_, n) => `${n}`);
    for (const files of [many, ['a', 'A/../a']]) {
      const { code, stderr } = await bed.run(['deposit', link, ...files]);
      expect([code, stderr]).toEqual([2, expect.not.stringContaining('--each')]);
    }
    expect(bed.requests).toEqual([]);
  });

  it.each([
    [404, 'request_not_found', 'There is no request at this address. Check the link.'],
    [409, 'request_used_up', 'This request has all the deposits that it takes.'],
    [410, 'request_closed', 'This request has expired or was closed, and takes no deposits.'],
  ])('says %d %s in words, and uploads nothing', async (status, code, detail) => {
    const { link } = await newLink();
    bed.script(problem(status, code, detail));
    expect(await bed.run(['deposit', link], { stdin: 'x' })).toEqual({
      code: 1,
      stdout: '',
      stderr: `pasteflow: ${detail}\n`,
    });
    expect(bed.requests.map(({ method }) => method)).toEqual(['GET']);
  });

  it('refuses what is too large for the server, and what is empty', async () => {
    const { link } = await newLink();
    serveRequest(bed);
    const large = await bed.run(['deposit', link], {
      stdin: randomBytes(65_536),
    });
    expect(large.code).toBe(0);
    bed.script(json(200, { from: { name: 'Anna', issuer: null }, message: null, max_bytes: 1000 }));
    bed.requests.length = 0;
    const refused = await bed.run(['deposit', link], {
      stdin: randomBytes(5000),
    });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('the server takes 1000 B')]);
    expect((await bed.run(['deposit', link])).stderr).toContain('the content is empty');
    expect(bed.requests.every(({ method }) => method === 'GET')).toBe(true);
  });

  it.each([
    ['no request', {}],
    ['no person', { from: null, message: 7 }],
    ['a request of nobody', { from: { name: 7 } }],
  ])('refuses %s from a server', async (_, body) => {
    const { link } = await newLink();
    bed.script(json(200, body));
    const { code, stderr } = await bed.run(['deposit', link], { stdin: 'x' });
    expect([code, stderr]).toEqual([1, expect.stringContaining('has not answered with a request')]);
  });

  it('says that a secret may have arrived when the server breaks', async () => {
    const { link } = await newLink();
    const works = serveRequest(bed);
    bed.script((seen, res) =>
      seen.method === 'POST' ? problem(500, 'internal', 'The server failed.')(seen, res) : works(seen, res),
    );
    const { code, stdout, stderr } = await bed.run(['deposit', link], { stdin: 'x' });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('The secret may have arrived.');
  });
});
