import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { PasteflowTimeoutError, type Paste } from '@pasteflow/client';
import { fragmentOfKey, seal, textOfSealed } from '@pasteflow/sealed';
import { reveal } from '../src/commands/reveal.ts';
import type { Session } from '../src/session.ts';
import { json, pasteWith, problem, reset, useBed, type Handler } from './support/bed.ts';
import { route } from './support/jobs.ts';

const bed = useBed();

const CODE = 'q7Zk2Lm9Xa';
const REVEAL = `POST /v1/pastes/${CODE}/reveal`;
const folder = () => join(bed.home, '.local/state/pasteflow/revealed');
const kept = async () => (await readdir(folder())).map((name) => join(folder(), name));
const asked = () => bed.requests.map(({ method, path }) => `${method} ${path}`);
const reveals = () => bed.requests.filter(({ method, path }) => `${method} ${path}` === REVEAL);
const keys = () => reveals().map(({ headers }) => headers['idempotency-key']);

/** @param cutAt breaks the connection after so many bytes */
function content(bytes: Buffer, cutAt = Infinity): Handler {
  return (_request, res) => {
    res.writeHead(200, { 'content-type': 'text/plain', 'content-length': String(bytes.length) });
    if (cutAt >= bytes.length) return void res.end(bytes);
    res.write(bytes.subarray(0, cutAt), () => setTimeout(() => res.socket?.destroy(), 20));
  };
}

/** Serves a paste that is deleted when it is read. */
function serve(bytes: Buffer, fields: object = {}, reveal: Handler = content(bytes)): void {
  route(bed, {
    [`GET /v1/pastes/${CODE}`]: json(
      200,
      pasteWith({ burn: true, encrypted: false, size_bytes: bytes.length, ...fields }),
    ),
    [REVEAL]: reveal,
  });
}

const secret = Buffer.from('the secret');
const TOLD = 'Whoever made this paste will see that it was fetched.\n';
const run = (args: readonly string[], options: Parameters<typeof bed.run>[1] = {}) =>
  bed.run(['cat', '--reveal', ...args], options);

describe('pasteflow cat --reveal', () => {
  it('prints the content, with one request for it, and leaves no file', async () => {
    serve(secret);
    expect(await run([CODE])).toEqual({ code: 0, stdout: 'the secret', stderr: TOLD });
    expect(asked()).toEqual([`GET /v1/pastes/${CODE}`, REVEAL]);
    expect(await kept()).toEqual([]);
  });

  it('writes the content to a file, and shows a hostile one safely on a terminal', async () => {
    const hostile = Buffer.from('one\u001b[2J');
    serve(hostile);
    const file = join(bed.home, 'copy');
    expect(await run([CODE, '-o', file])).toEqual({ code: 0, stdout: '', stderr: TOLD });
    expect((await readFile(file)).equals(hostile)).toBe(true);
    expect((await run([CODE], { tty: ['stdout'] })).stdout).toBe('one\\u{1b}[2J');
    expect(await kept()).toEqual([]);
  });

  it('reads a paste that stays when it is read as without --reveal', async () => {
    route(bed, {
      [`GET /v1/pastes/${CODE}`]: json(200, pasteWith({ burn: false })),
      [`GET /v1/pastes/${CODE}/content`]: content(Buffer.from('it stays')),
    });
    expect((await run([CODE])).stdout).toBe('it stays');
    expect(asked()).not.toContain(REVEAL);
  });

  it('reveals nothing when the content could not be written', async () => {
    serve(secret);
    expect((await run(['-o', join(bed.home, 'none', 'file'), CODE])).code).toBe(1);
    await mkdir(join(bed.home, '.local'));
    await writeFile(join(bed.home, '.local/state'), 'in the way');
    expect((await run([CODE])).code).toBe(1);
    await rm(join(bed.home, '.local'), { recursive: true });
    expect(asked()).not.toContain(REVEAL);
  });

  it.each([
    ['an encrypted paste without its key', '', true, 'whole URL with the key'],
    [
      'a key for a paste that is not encrypted',
      `#${fragmentOfKey(new Uint8Array(32).fill(7))}`,
      false,
      'is not encrypted',
    ],
  ])('reveals nothing of %s', async (_name, fragment, encrypted, message) => {
    serve(secret, { encrypted });
    const { code, stderr } = await run([`${bed.url}/${CODE}${fragment}`]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(stderr).toContain('Nothing was revealed.');
    expect(asked()).toEqual([`GET /v1/pastes/${CODE}`]);
  });

  it('says that a paste is gone, and keeps no file', async () => {
    serve(secret, {}, problem(410, 'paste_gone', 'It was read.'));
    expect(await run([CODE])).toEqual({ code: 1, stdout: '', stderr: `${TOLD}pasteflow: It was read.\n` });
    expect(await kept()).toEqual([]);
  });

  it('repeats a reveal with the same key when the connection breaks, also when the command is run again', async () => {
    const interrupt = new AbortController();
    let tries = 0;
    serve(secret, {}, (request, res) => {
      if ((tries += 1) === 3) interrupt.abort(new Error('Ctrl-C'));
      return reset(request, res);
    });
    const { code, stderr } = await run([CODE], { signal: interrupt.signal });
    expect([code, stderr]).toEqual([1, expect.stringContaining(`pasteflow timeline ${CODE}`)]);
    expect(stderr).toContain('repeat this command within five minutes');
    const [keyFile, ...others] = await kept();
    expect([others, (await stat(keyFile!)).mode & 0o777]).toEqual([[], 0o600]);
    serve(secret);
    expect((await run([CODE])).stdout).toBe('the secret');
    expect([keys().length, new Set(keys()).size, await kept()]).toEqual([4, 1, []]);
  });

  it('asks for as long as the server may be away', async () => {
    let tries = 0;
    serve(secret, {}, (request, res) =>
      (tries += 1) < 10 ? reset(request, res) : content(secret)(request, res),
    );
    expect((await run([CODE])).stdout).toBe('the secret');
  }, 120_000);

  it('says that an earlier try may have revealed the paste when a later one is refused', async () => {
    let tries = 0;
    serve(secret, {}, (request, res) =>
      (tries += 1) === 1 ? reset(request, res) : problem(410, 'paste_gone', 'It was read.')(request, res),
    );
    const { code, stderr } = await run([CODE]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`pasteflow timeline ${CODE}`)]);
  });

  it.each([
    ['before the answer', reset],
    ['in the middle of the content', content(secret, 4)],
  ])(
    'prints the whole content when the connection breaks %s and a repeat succeeds',
    async (_name, broken) => {
      let tries = 0;
      serve(secret, {}, (request, res) =>
        (tries += 1) < 3 ? broken(request, res) : content(secret)(request, res),
      );
      expect(await run([CODE])).toEqual({ code: 0, stdout: 'the secret', stderr: TOLD });
      expect([keys().length, new Set(keys()).size]).toEqual([3, 1]);
      expect(await kept()).toEqual([]);
    },
  );

  it('says that the paste may be gone when the time for it ended', async () => {
    const notes: string[] = [];
    const late = (_code: string, { onTry }: { onTry: () => void }) => {
      onTry();
      return Promise.reject(new PasteflowTimeoutError('paste is IN_PROGRESS after 120000 ms'));
    };
    const session = {
      client: { pastes: { reveal: late } }, // a server would need two minutes
      output: { note: (line: string) => notes.push(line) },
      terminal: { env: { HOME: bed.home } },
      isAnonymous: true,
    } as unknown as Session;
    const paste = { encrypted: false, size_bytes: 5 } as Paste;
    await expect(
      reveal(session, { code: CODE, key: null }, paste, () => Promise.resolve(true)),
    ).rejects.toThrow('IN_PROGRESS');
    expect(notes).toEqual([TOLD.trim(), expect.stringContaining(`pasteflow timeline ${CODE}`)]);
    expect(await kept()).toEqual([join(folder(), `${CODE}.key`)]);
  });

  it('keeps what has arrived when the connection breaks off in the middle again and again', async () => {
    serve(secret, {}, content(secret, 4));
    const { code, stdout, stderr } = await run([CODE]);
    expect([code, stdout]).toEqual([1, '']);
    const [file] = await kept();
    expect(file).toMatch(/\.part$/);
    expect(stderr).toContain(`The 4 bytes that have arrived are in ${file}`);
    expect(stderr).toContain('broke off');
    expect(await readFile(file!, 'utf8')).toBe('the ');
    expect(new Set(keys()).size).toBe(1);
  });

  it('keeps the content, for its owner alone, when the output fails', async () => {
    const file = join(bed.home, 'locked', 'copy');
    await mkdir(join(bed.home, 'locked'));
    serve(secret, {}, async (request, res) => {
      await rm(join(bed.home, 'locked'), { recursive: true }); // after the check, before the output
      return content(secret)(request, res);
    });
    const { code, stderr } = await run([CODE, '-o', file]);
    expect(code).toBe(1);
    const [path] = await kept();
    expect(stderr).toContain(`Its content is in ${path}, which only you can read.`);
    expect(await readFile(path!, 'utf8')).toBe('the secret');
    expect((await stat(path!)).mode & 0o777).toBe(0o600);
    expect((await stat(folder())).mode & 0o777).toBe(0o700);
  });

  it('keeps the content when the command is interrupted while it arrives', async () => {
    const interrupt = new AbortController();
    serve(secret, {}, (_request, res) => {
      res.writeHead(200, { 'content-length': String(secret.length) });
      res.write('the ', () => setTimeout(() => interrupt.abort(new Error('Ctrl-C')), 100));
    });
    const { code, stderr } = await run([CODE], { signal: interrupt.signal });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/pasteflow: Interrupted\.\n$/)]);
    expect(await readFile((await kept())[0]!, 'utf8')).toBe('the ');
  });

  it('takes the room on the disk before it asks for the content', async () => {
    let sizes: readonly number[] = [];
    const large = Buffer.alloc(200_000, 'x');
    serve(large, {}, async (request, res) => {
      sizes = await Promise.all((await kept()).map(async (path) => (await stat(path)).size));
      return content(large)(request, res);
    });
    expect((await run([CODE])).stdout).toBe(large.toString());
    expect(sizes).toEqual([200_000, 36]); // and the key of the reader
  });
});

describe('an encrypted paste that was revealed', () => {
  const message = { text: 'closed', attachments: [], title: null, syntax: null };

  async function sealed(fields: object = {}): Promise<{ url: string; document: string }> {
    const { document, key } = await seal({ ...message, ...fields }, { password: 'right', burn: true });
    const text = textOfSealed(document);
    serve(Buffer.from(text), { encrypted: true });
    return { url: `${bed.url}/${CODE}#${fragmentOfKey(key)}`, document: text };
  }

  it('is kept when the password is wrong, and the command in the error decrypts it', async () => {
    const { url, document } = await sealed();
    const { code, stdout, stderr } = await run([url], { env: { PASTEFLOW_PASSWORD: 'wrong' } });
    expect([code, stdout]).toEqual([1, '']);
    const [path] = await kept();
    expect(stderr).toContain(`pasteflow cat --from ${path} '${bed.url}/${CODE}#KEY'`);
    expect(stderr).toContain('The key or the password is wrong');
    expect(stderr).not.toContain(url.split('#')[1]);
    expect(await readFile(path!, 'utf8')).toBe(document);
    expect((await stat(path!)).mode & 0o777).toBe(0o600);
    const env = { PASTEFLOW_PASSWORD: 'right' };
    const before = bed.requests.length;
    expect(await bed.run(['cat', '--from', path!, url], { env })).toEqual({
      code: 0,
      stdout: 'closed',
      stderr: '',
    });
    expect(bed.requests).toHaveLength(before);
    expect(await kept()).toEqual([path]);
  });

  it('is opened at the third password on a terminal, with one reveal', async () => {
    const { url } = await sealed();
    const { code, stdout, stderr } = await run([url], { stdin: ['wrong\r', 'bad\r', 'right\r'] });
    expect([code, stdout]).toEqual([0, 'closed']);
    expect(stderr.match(/is wrong/g)).toHaveLength(2);
    for (const typed of ['wrong\r', 'bad', 'right']) expect(stderr).not.toContain(typed);
    expect(asked().filter((each) => each === REVEAL)).toHaveLength(1);
    expect(await kept()).toEqual([]);
  });

  it('is kept after three wrong passwords', async () => {
    const { url, document } = await sealed();
    const { code, stderr } = await run([url], { stdin: ['1\r', '2\r', '3\r', 'right\r'] });
    expect([code, stderr.match(/Password: /g)?.length]).toEqual([1, 3]);
    expect(await readFile((await kept())[0]!, 'utf8')).toBe(document);
  });

  it.each([
    ['at the question for the password', 0],
    ['before the question for the password', 1],
  ])('is kept when the person presses Ctrl-C %s', async (_name, early) => {
    const { url, document } = await sealed();
    const interrupt = new AbortController();
    const press = () => interrupt.abort(new Error('Ctrl-C'));
    if (early === 1)
      serve(Buffer.from(document), { encrypted: true }, (request, res) => {
        res.on('close', () => setTimeout(press, 20)); // while the key is derived
        return content(Buffer.from(document))(request, res);
      });
    const { code, stderr } = await run([url], { stdin: [press], signal: interrupt.signal });
    expect([code, stderr]).toEqual([1, expect.stringContaining('--from')]);
    expect(await readFile((await kept())[0]!, 'utf8')).toBe(document);
  });

  it('is kept when it has attachments that were not printed', async () => {
    const attachments = [{ name: 'a\u001b[2J.png', bytes: new Uint8Array([1, 2]) }];
    const { url, document } = await sealed({ attachments });
    const { code, stdout, stderr } = await run([url], { env: { PASTEFLOW_PASSWORD: 'right' } });
    expect([code, stdout]).toEqual([0, 'closed']);
    expect(stderr).toContain('a\\u{1b}[2J.png');
    expect(stderr).toContain('--from');
    expect(await readFile((await kept())[0]!, 'utf8')).toBe(document);
  });
});
