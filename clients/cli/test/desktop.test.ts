import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { json, pasteWith, problem, type Handler, useBed } from './support/bed.ts';
import { env, route } from './support/jobs.ts';

const bed = useBed();
const CODE = 'q7Zk2Lm9Xa';
const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';

/** Puts a shell script into a folder of its own, and that folder alone, with the shell's, into the PATH. */
async function program(name: string, script: string): Promise<Record<string, string>> {
  const path = join(bed.home, 'bin', name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return { PATH: `${dirname(path)}:/bin`, SEEN: join(bed.home, 'seen') };
}

const seen = () => readFile(join(bed.home, 'seen'), 'utf8');

describe('pasteflow open', () => {
  it.each([
    [[CODE], `/${CODE}`],
    [['~a-name'], '/~a-name'],
    [['019aa5b2-7c00-7b6e-9c3d-5f2a1e8d4c70'], '/my/jobs/019aa5b2-7c00-7b6e-9c3d-5f2a1e8d4c70'],
    [[`${CODE}#L3-L5`], `/${CODE}#L3-L5`],
    [[`${CODE}#f2-L3-L5`], `/${CODE}#f2-L3-L5`],
    [[`${CODE}#f2`], `/${CODE}#f2`],
  ])('opens %j in the browser, with what follows the #', async (args, path) => {
    const ended = await bed.run(['open', ...args], { env: await program(opener, 'printf %s "$1" >"$SEEN"') });
    expect(ended).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await seen()).toBe(bed.url + path);
    expect(bed.requests).toEqual([]);
  });

  it('prints the address when no browser opens', async () => {
    const failing = await program(opener, 'exit 3');
    expect(await bed.run(['open', CODE], { env: failing })).toEqual({
      code: 1,
      stdout: `${bed.url}/${CODE}\n`,
      stderr: expect.stringContaining('Open the address yourself'),
    });
  });

  it('opens no address of another server, and none with a damaged key', async () => {
    const env = await program(opener, 'touch "$SEEN"');
    expect((await bed.run(['open', 'https://elsewhere.test/x'], { env })).code).toBe(2);
    expect((await bed.run(['open', `${CODE}#x$(id)`], { env })).code).toBe(2);
    await expect(seen()).rejects.toThrow('ENOENT');
  });
});

describe('pasteflow put --copy', () => {
  const created = json(201, pasteWith());

  it('copies the URL by a program of the desktop', async () => {
    bed.script(created);
    const ended = await bed.run(['put', '--copy'], { env: await program('wl-copy', 'cat >"$SEEN"') });
    expect(ended).toEqual({ code: 0, stdout: 'https://paste.example.org/q7Zk2Lm9Xa\n', stderr: '' });
    expect(await seen()).toBe('https://paste.example.org/q7Zk2Lm9Xa');
  });

  it('asks the terminal to copy without such a program, and says so where there is no terminal', async () => {
    bed.script(created);
    const PATH = join(bed.home, 'nothing');
    const { stderr } = await bed.run(['put', '--copy'], { tty: ['stderr'], env: { PATH } });
    const copied = stderr.split('\u001b]52;c;').at(-1)!.replace('\u0007', '');
    expect(Buffer.from(copied, 'base64').toString()).toBe('https://paste.example.org/q7Zk2Lm9Xa');
    expect(await bed.run(['put', '--copy'], { env: { PATH } })).toEqual({
      code: 1,
      stdout: 'https://paste.example.org/q7Zk2Lm9Xa\n',
      stderr: expect.stringContaining('There is no program to copy with'),
    });
  });
});

describe('pasteflow edit', () => {
  const created = (paste: object): Record<string, Handler> => ({
    [`GET /v1/pastes/${CODE}`]: json(200, pasteWith(paste)),
    [`GET /v1/pastes/${CODE}/content`]: (_request, res) =>
      void res.writeHead(200, { 'content-length': '4', etag: '"0f"' }).end('old\n'),
    'POST /v1/pastes': json(201, pasteWith({ short_code: 'new', url: 'https://x.test/new' })),
  });

  const stranger = problem(401, 'unauthorized', 'Not yours.');
  /** The query of each creation. */
  const sent = () =>
    bed.requests
      .filter(({ method }) => method === 'POST')
      .map(({ path }) => Object.fromEntries(new URL(path, bed.url).searchParams));

  it('saves what the editor has saved as the newer version, which has the options of the older one', async () => {
    route(bed, created({ title: 'notes.md', visibility: 'private' }));
    const path = await program('my-editor', 'printf %s "$2" >"$SEEN"; test "$1" = --wait; echo new >>"$2"');
    const EDITOR = 'my-editor --wait';
    const ended = await bed.run(['edit', CODE, '-e', '1h'], { env: { ...env, ...path, EDITOR } });
    expect(ended).toEqual({ code: 0, stdout: 'https://x.test/new\n', stderr: '' });
    expect(bed.requests.at(-1)!.body.toString()).toBe('old\nnew\n');
    expect(sent()).toEqual([{ supersedes: CODE, expires_in: '3600' }]);
    expect(await seen()).toMatch(/\/notes\.md$/);
    await expect(readdir(dirname(await seen()))).rejects.toThrow('ENOENT');
  });

  it('sends the delete token that put has kept, and keeps that of the newer version', async () => {
    const token = { delete_token: 'first' };
    route(bed, {
      ...created({}),
      'POST /v1/pastes': json(201, pasteWith(token)),
    });
    await bed.run(['put'], { stdin: 'old' });
    route(bed, {
      ...created({}),
      'POST /v1/pastes': json(201, pasteWith({ short_code: 'new', delete_token: 'second' })),
      'DELETE /v1/pastes/new': (_request, res) => void res.writeHead(204).end(),
    });
    const path = await program('my-editor', 'echo new >>"$1"');
    await bed.run(['edit', CODE], { env: { ...path, EDITOR: 'my-editor' } });
    expect(bed.requests.at(-1)!.headers['delete-token']).toBe('first');
    await bed.run(['rm', 'new']);
    expect(bed.requests.at(-1)!.headers['delete-token']).toBe('second');
  });

  it.each([
    ['python', 'python'],
    ['kling on!', ''], // as a paste of an earlier release may have
  ])(
    'makes a new paste from one of somebody else, with its title and its language %j',
    async (syntax, kept) => {
      const made = json(201, pasteWith({ short_code: 'new', url: 'https://x.test/new' }));
      let creations = 0;
      route(bed, {
        ...created({ title: 'notes', syntax }),
        'POST /v1/pastes': (request, res) => (creations++ === 0 ? stranger : made)(request, res),
      });
      const path = await program('my-editor', 'echo new >>"$1"');
      const ended = await bed.run(['edit', CODE], { env: { ...env, ...path, EDITOR: 'my-editor' } });
      expect(ended).toMatchObject({ code: 0, stdout: 'https://x.test/new\n' });
      expect(ended.stderr).toContain('is not yours');
      expect(sent().at(-1)).toEqual({ title: 'notes', syntax: kept, visibility: 'unlisted', parent: CODE });
    },
  );

  it('opens no editor for a paste that has a newer version', async () => {
    route(bed, created({ superseded_by: 'newer' }));
    const { code, stderr } = await bed.run(['edit', CODE], { env: { ...env, EDITOR: 'false' } });
    expect([code, stderr]).toEqual([1, expect.stringContaining('pasteflow edit newer')]);
  });

  it.each([
    ['Makefile', null, 'Makefile'],
    ['.vimrc', null, 'paste.vimrc'],
    ['notes', 'python', 'paste.py'],
    ['../a b.rs', 'rust', 'a_b.rs'],
    [null, 'rust', 'paste.rs'],
    [null, null, 'paste.txt'],
  ])('gives the editor a file that names the language: title %j, syntax %j', async (title, syntax, name) => {
    route(bed, created({ title, syntax }));
    const path = await program('my-editor', 'printf %s "$1" >"$SEEN"');
    await bed.run(['edit', CODE], { env: { ...env, ...path, EDITOR: 'my-editor' } });
    expect(basename(await seen())).toBe(name);
  });

  it('makes no paste when nothing was changed', async () => {
    route(bed, created({}));
    const { code, stderr } = await bed.run(['edit', CODE], {
      env: { EDITOR: 'true', PATH: '/bin:/usr/bin' },
    });
    expect([code, stderr]).toEqual([0, 'Nothing was changed, and no paste was made.\n']);
    expect(bed.requests.some(({ method }) => method === 'POST')).toBe(false);
  });

  it.each([
    ['the editor fails', 'echo kept >>"$1"; exit 1', {}, 'failed, and no paste was made'],
    [
      'somebody else was first',
      'echo kept >>"$1"',
      { 'POST /v1/pastes': problem(409, 'superseded', 'The newer version is another.') },
      'The newer version is another.',
    ],
    [
      'the server refuses it',
      'echo kept >>"$1"',
      { 'POST /v1/pastes': problem(413, 'content_too_large', 'Too large.') },
      'Too large.',
    ],
  ])('keeps the file when %s', async (_, script, answers, message) => {
    route(bed, { ...created({}), ...answers });
    const EDITOR = 'my-editor';
    const { code, stdout, stderr } = await bed.run(['edit', CODE], {
      env: { ...(await program('my-editor', script)), EDITOR },
    });
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(message)]);
    const [, file = ''] = /file that you have edited is (.*)\./.exec(stderr) ?? [];
    expect(await readFile(file, 'utf8')).toBe('old\nkept\n');
    await rm(dirname(file), { recursive: true });
  });

  it('edits no encrypted paste', async () => {
    route(bed, created({ encrypted: true }));
    const { code, stderr } = await bed.run(['edit', CODE]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('An encrypted paste can not be edited')]);
  });
});

describe('pasteflow change', () => {
  it('sends what was named and nothing else, with the delete token that put has kept', async () => {
    route(bed, { 'POST /v1/pastes': json(201, pasteWith({ delete_token: 'kept' })) });
    await bed.run(['put'], { stdin: 'old' });
    route(bed, { [`PATCH /v1/pastes/${CODE}`]: json(200, pasteWith({ title: null })) });
    const ended = await bed.run(['change', CODE, '-t', '', '-s', 'py', '-e', 'never', '--unlisted']);
    expect(ended).toEqual({ code: 0, stdout: `https://paste.example.org/${CODE}\n`, stderr: '' });
    const { headers, body } = bed.requests.at(-1)!;
    const changes = { title: '', syntax: 'python', expires_in: 'never', visibility: 'unlisted' };
    expect([headers['delete-token'], JSON.parse(body.toString())]).toEqual(['kept', changes]);
    await bed.run(['change', CODE, '--members']);
    expect(JSON.parse(bed.requests.at(-1)!.body.toString())).toEqual({ visibility: 'members' });
  });

  it('refuses a command line that names nothing, or what contradicts itself', async () => {
    for (const args of [[], ['--private', '--unlisted'], ['--members', '--unlisted'], ['-s', 'klingon']])
      expect(await bed.run(['change', CODE, ...args])).toMatchObject({ code: 2, stdout: '' });
    expect(bed.requests).toEqual([]);
  });
});

describe('pasteflow whoami', () => {
  const accepted = json(200, { jobs: [], next_cursor: null });

  it('prints the server, and whether the server accepts the token', async () => {
    bed.script(accepted); // also of an older server, which doesn't know the user
    expect((await bed.run(['whoami'], { env })).stdout).toBe(`${bed.url}  signed in with a token\n`);
    expect((await bed.run(['whoami'])).stdout).toBe(`${bed.url}  anonymous, without a token\n`);
    expect(JSON.parse((await bed.run(['whoami', '--json'])).stdout)).toEqual({
      server: bed.url,
      anonymous: true,
    });
    bed.script(problem(401, 'unauthorized', 'Wrong token.'));
    const { code, stderr } = await bed.run(['whoami'], { env });
    expect([code, stderr]).toEqual([1, `pasteflow: ${bed.url} does not accept this token.\n`]);
  });
});

describe('pasteflow whoami on a server with quotas', () => {
  const usage = {
    user: 'alice',
    pastes: { used: 12, allowed: 100 },
    stored_bytes: { used: 3400, allowed: 10_000 },
    bytes_today: null,
  };

  it('prints the user, and what is used of each limit', async () => {
    bed.script(json(200, { jobs: [], next_cursor: null }), json(200, usage));
    const { stdout } = await bed.run(['whoami'], { env });
    expect(stdout).toBe(
      `${bed.url}  signed in with a token of alice\npastes  12 of 100\nstored  3.3 KiB of 9.8 KiB\n`,
    );
    expect(JSON.parse((await bed.run(['whoami', '--json'])).stdout)).toEqual({
      server: bed.url,
      anonymous: true,
      user: 'alice',
      usage: { pastes: usage.pastes, stored_bytes: usage.stored_bytes },
    });
  });
});

describe('pasteflow help', () => {
  it.each([['--help'], ['help', 'put'], ['help', 'cat']])('shows examples in %j', async (...args) => {
    const { code, stdout } = await bed.run(args);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/Examples:\n  .*pasteflow /)]);
  });
});
