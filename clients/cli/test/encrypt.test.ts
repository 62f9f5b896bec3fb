import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { keyOfFragment, openSealed, parseSealedText } from '@pasteflow/sealed';
import { json, pasteWith, useBed, type Handler } from './support/bed.ts';

const bed = useBed();

const CODE = 'q7Zk2Lm9Xa';
const created: Handler = (request, res) => json(201, pasteWith({ url: `${bed.url}/${CODE}` }))(request, res);

/** Serves a document. */
const serving =
  (document: Buffer): Handler =>
  (_request, res) =>
    void res.writeHead(200, { 'content-length': String(document.length), etag: '"0f"' }).end(document);

/** Puts an encrypted paste, and serves what was sent from then on. @returns its URL */
async function put(
  stdin: string | Buffer,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<string> {
  bed.script(created);
  const { code, stdout, stderr } = await bed.run(['put', '--encrypt', ...args], { stdin, env });
  expect([code, stderr]).toEqual([0, '']);
  bed.script(serving(bed.requests.at(-1)!.body));
  return stdout.trim();
}

describe('pasteflow put --encrypt', () => {
  it('prints the URL with the key, which the server gets as little as the content and the title', async () => {
    const url = await put('Grüße\n', ['--title', 'Secret', '-s', 'rust', '-e', '2h']);
    expect(url).toMatch(new RegExp(`^${bed.url}/${CODE}#[1-9A-HJ-NP-Za-km-z]{43,44}$`));
    const { path, body, headers } = bed.requests.at(-1)!;
    expect(Object.fromEntries(new URL(path, bed.url).searchParams)).toEqual({
      encrypted: 'true',
      expires_in: '7200',
    });
    expect(body.toString()).toMatch(
      /^\{"v":2,"adata":\[\["[^"]+","[^"]+",600000,256,128,"aes","gcm","zlib"\],"plaintext",0,0\],"ct":"/,
    );
    const sent = path + body.toString() + JSON.stringify(headers);
    for (const hidden of ['Secret', 'Grüße', url.split('#')[1]!]) expect(sent).not.toContain(hidden);
    expect((await bed.run(['cat', url])).stdout).toBe('Grüße\n');
  });

  it('encrypts the name by which the pages know the language', async () => {
    const url = await put('int main;', ['-s', 'CC']);
    const document = parseSealedText(bed.requests.at(-1)!.body.toString());
    const key = keyOfFragment(new URL(url).hash)!;
    expect(await openSealed(document, key, { password: '' })).toMatchObject({ syntax: 'cpp' });
  });

  it('gives back bytes that are no text', async () => {
    const bytes = Buffer.from([0, 255, 10, 13]);
    const url = await put(bytes);
    const { code } = await bed.run(['cat', url, '-o', `${bed.home}/copy`]);
    expect(code).toBe(0);
    const { readFile } = await import('node:fs/promises');
    expect((await readFile(`${bed.home}/copy`)).equals(bytes)).toBe(true);
  });

  it('takes a password from the environment, without which the key opens nothing', async () => {
    const env = { PASTEFLOW_PASSWORD: 'pässword' };
    const url = await put('closed', ['--password'], env);
    expect((await bed.run(['cat', url], { env })).stdout).toBe('closed');
    for (const [wrong, message] of [
      [{}, 'or it needs a password: set PASTEFLOW_PASSWORD'],
      [{ PASTEFLOW_PASSWORD: 'wrong' }, 'The key or the password is wrong'],
    ] as const) {
      const { code, stdout, stderr } = await bed.run(['cat', url], { env: wrong });
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(message)]);
    }
  });

  it('uses a password from the environment only when it is asked for', async () => {
    const url = await put('open', [], { PASTEFLOW_PASSWORD: 'left over' });
    expect((await bed.run(['cat', url])).stdout).toBe('open');
  });

  it('refuses what can not be meant, and sends nothing', async () => {
    for (const [args, env, message] of [
      [['put', '--password'], {}, 'add --encrypt'],
      [['put', '--encrypt', '--password'], {}, 'Set PASTEFLOW_PASSWORD'],
    ] as const) {
      const { code, stderr } = await bed.run(args, { stdin: 'x', env });
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    }
    expect(await bed.run(['put', '--encrypt'], { stdin: '' })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('nothing to encrypt'),
    });
    expect(bed.requests).toEqual([]);
  });
});

describe('pasteflow put --secret', () => {
  /** What the server learns of the paste. */
  const sentOptions = () => Object.fromEntries(new URL(bed.requests.at(-1)!.path, bed.url).searchParams);

  it('encrypts a paste that is read once, and ends after a day unless another time is given', async () => {
    bed.script(created);
    const file = join(bed.home, 'password.txt');
    await writeFile(file, 'hunter2');
    const { stdout, stderr } = await bed.run(['put', '--secret', '--title', 'Door', file]);
    expect([stdout, stderr]).toEqual([expect.stringContaining(`${bed.url}/${CODE}#`), '']);
    expect(sentOptions()).toEqual({ encrypted: 'true', burn: 'true', expires_in: '86400' });
    const { path, body } = bed.requests.at(-1)!;
    for (const hidden of ['hunter2', 'Door', 'password.txt'])
      expect(path + body.toString()).not.toContain(hidden);
    const key = keyOfFragment(new URL(stdout.trim()).hash)!;
    expect(await openSealed(parseSealedText(body.toString()), key, { password: '' })).toMatchObject({
      text: 'hunter2',
      title: 'Door',
    });
    await bed.run(['put', '--secret', '-e', '2h', '--encrypt', '--burn', file]);
    expect(sentOptions()).toEqual({ encrypted: 'true', burn: 'true', expires_in: '7200' });
    await bed.run(['put', '--secret', '-e', 'never', file]);
    expect(sentOptions()).toMatchObject({ expires_in: 'never' });
  });

  it('takes a password without --encrypt, and makes a secret of each file', async () => {
    const [one, two] = [join(bed.home, 'one'), join(bed.home, 'two')];
    for (const path of [one, two]) await writeFile(path, path);
    bed.script(created, created);
    const run = await bed.run(['put', '--secret', '--password', '--each', one, two], {
      env: { PASTEFLOW_PASSWORD: 'pässword' },
    });
    expect(run).toMatchObject({ code: 0, stderr: '' });
    const documents = bed.requests.map(({ body }) => parseSealedText(body.toString()));
    const keys = run.stdout
      .trim()
      .split('\n')
      .map((url) => keyOfFragment(new URL(url).hash)!);
    expect(keys).toHaveLength(2);
    for (const document of documents) {
      const open = (password: string) =>
        Promise.any(keys.map((key) => openSealed(document, key, { password })));
      expect([one, two]).toContain((await open('pässword')).text);
      await expect(open('')).rejects.toThrow();
    }
  });
});

describe('pasteflow cat', () => {
  it('refuses an encrypted paste without its key, unless every byte is asked for', async () => {
    const url = await put('text');
    const document = bed.requests.at(-1)!.body;
    const [plainUrl = ''] = url.split('#');
    expect((await bed.run(['cat', plainUrl, '--raw'])).stdout).toBe(document.toString());
    bed.script(serving(document), json(200, pasteWith({ encrypted: true })));
    const { code, stdout, stderr } = await bed.run(['cat', plainUrl]);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('This paste is encrypted')]);
    const kept = join(bed.home, 'kept');
    await writeFile(kept, document);
    expect(await bed.run(['cat', CODE, '--from', kept])).toMatchObject({ code: 1, stdout: '' });
  });

  it('prints a text that only looks like ciphertext', async () => {
    const text = '{"v":2,"adata":[] } of a text';
    for (const content of [text, text.slice(0, 3), '']) {
      bed.script(serving(Buffer.from(content)), json(200, pasteWith({ encrypted: false })));
      expect(await bed.run(['cat', CODE])).toMatchObject({ code: 0, stdout: content });
    }
  });

  it('takes %23 for the # of an address, as mail programs write it, and refuses a damaged key', async () => {
    const url = await put('text');
    expect((await bed.run(['cat', url.replace('#', '%23')])).stdout).toBe('text');
    const seen = bed.requests.length;
    const { code, stderr } = await bed.run(['cat', `${url.slice(0, -10)}`]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('is not a key')]);
    expect(bed.requests).toHaveLength(seen);
  });

  it('shows nothing of a decrypted text on a terminal that could act on it', async () => {
    const url = await put('one\u001b[2J');
    expect((await bed.run(['cat', url], { tty: ['stdout'] })).stdout).toBe('one\\u{1b}[2J');
  });

  it('says what is wrong with a paste that is not encrypted', async () => {
    const url = await put('text');
    bed.script(serving(Buffer.from('plain text')));
    const { code, stderr } = await bed.run(['cat', url]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('must be JSON')]);
  });
});
