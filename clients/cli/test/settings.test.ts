import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { opener } from '../src/terminal/programs.ts';
import { json, problem, reset, useBed } from './support/bed.ts';
import { ID } from './support/jobs.ts';

const bed = useBed();

const empty = json(200, { pastes: [], jobs: [], next_cursor: null });
const configPath = () => join(bed.home, '.config/pasteflow/config.json');
const tokensSeen = () => bed.requests.map(({ headers }) => headers.authorization ?? null);

async function keep(config: unknown): Promise<void> {
  await mkdir(join(bed.home, '.config/pasteflow'), { recursive: true });
  await writeFile(configPath(), typeof config === 'string' ? config : JSON.stringify(config));
}

const ls = (args: string[] = [], env: Record<string, string> = {}) => bed.run(['ls', ...args], { env });

describe('the settings', () => {
  it('come from the flags, then from the environment, then from the file', async () => {
    bed.script(empty);
    const file = join(bed.home, 'token');
    await writeFile(file, 'pf_flag\n');
    await keep({ server: bed.url, tokens: { [bed.url]: 'pf_file' } });
    await ls([], { PASTEFLOW_SERVER: '' });
    await ls([], { PASTEFLOW_TOKEN: 'pf_env' });
    await ls(['--token-file', file], { PASTEFLOW_TOKEN: 'pf_env' });
    await ls(['--anonymous'], { PASTEFLOW_TOKEN: 'pf_env' });
    await ls(['--server', `${bed.url}/`], { PASTEFLOW_SERVER: 'http://127.0.0.1:9' });
    expect(tokensSeen()).toEqual([
      'Bearer pf_file',
      'Bearer pf_env',
      'Bearer pf_flag',
      null,
      'Bearer pf_file',
    ]);
  });

  it('never send the token of one server to another one', async () => {
    bed.script(empty);
    await keep({ server: 'https://paste.example.org', tokens: { 'https://paste.example.org': 'pf_secret' } });
    expect((await ls(['--server', bed.url])).code).toBe(0);
    expect(tokensSeen()).toEqual([null]);
  });

  it('send PASTEFLOW_TOKEN to the usual server, and not to one that is named once', async () => {
    bed.script(empty);
    const env = { PASTEFLOW_TOKEN: 'pf_env' };
    await ls(['--server', bed.url], { ...env, PASTEFLOW_SERVER: '' });
    await ls(['--server', bed.url], { ...env, PASTEFLOW_SERVER: `${bed.url}/` });
    await ls(['--server', bed.url], { ...env, PASTEFLOW_SERVER: 'https://paste.example.org' });
    expect(tokensSeen()).toEqual(['Bearer pf_env', 'Bearer pf_env', null]);
  });

  it.each(['{', '"x"', '{"tokens": 1}', '{"server": 1}', '{"tokens": {"a": 1}}'])(
    'are refused with 2 and the path when the file is damaged: %s',
    async (text) => {
      await keep(text);
      const { code, stderr } = await ls();
      expect([code, stderr]).toEqual([2, expect.stringContaining(`${configPath()} is damaged`)]);
    },
  );

  it('say how to name a server when none is known', async () => {
    const { code, stderr } = await ls([], { PASTEFLOW_SERVER: '' });
    expect([code, stderr]).toEqual([2, expect.stringContaining('pasteflow login --server URL')]);
  });

  it.each(['a b', 'a\nb', 'ü', '\u001b[2J'])(
    'refuse the token %j, which no header can hold',
    async (token) => {
      const { code, stderr } = await ls([], { PASTEFLOW_TOKEN: token });
      expect([code, stderr]).toEqual([2, expect.stringContaining('Copy it again')]);
    },
  );

  it('warn when a token goes to another machine without encryption', async () => {
    const env = { PASTEFLOW_TOKEN: 'pf_x', PASTEFLOW_SERVER: 'http://paste.example.org' };
    const { stderr } = await bed.run(['cat', '-'], { env });
    expect(stderr).toContain('Warning: http://paste.example.org is not encrypted');
  });
});

describe('pasteflow login', () => {
  const login = (token: string, env: Record<string, string> = {}) =>
    bed.run(['login'], { stdin: token, env });

  it('keeps a token that the server accepts, for its owner alone', async () => {
    bed.script(empty);
    const { code, stdout, stderr } = await login('pf_new\n');
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).not.toContain('pf_new');
    expect(JSON.parse(await readFile(configPath(), 'utf8'))).toEqual({
      server: bed.url,
      tokens: { [bed.url]: 'pf_new' },
    });
    expect((await stat(configPath())).mode & 0o777).toBe(0o600);
    expect(await readdir(join(bed.home, '.config/pasteflow'))).toEqual(['config.json']);
    await ls();
    expect(tokensSeen()).toEqual(['Bearer pf_new', 'Bearer pf_new']);
  });

  it('keeps the tokens of other servers, and makes a file that was open to others private', async () => {
    bed.script(empty);
    await keep({ server: 'https://a.test', tokens: { 'https://a.test': 'pf_a' } });
    expect((await stat(configPath())).mode & 0o044).not.toBe(0);
    await login('pf_new');
    const { server, tokens } = JSON.parse(await readFile(configPath(), 'utf8')) as Record<string, unknown>;
    expect([server, tokens]).toEqual([bed.url, { 'https://a.test': 'pf_a', [bed.url]: 'pf_new' }]);
    expect((await stat(configPath())).mode & 0o777).toBe(0o600);
  });

  it('changes nothing when the server refuses the token', async () => {
    bed.script(problem(401, 'unauthorized', 'No.'));
    const { code, stderr } = await login('pf_wrong');
    expect([code, stderr]).toEqual([1, expect.stringContaining('does not accept this token')]);
    expect(await readdir(bed.home)).toEqual([]);
  });

  it('opens the page that makes a token, asks for it, shows nothing of it, and ends when it is interrupted', async () => {
    bed.script(empty);
    const tty = ['stdin', 'stderr'] as const;
    const seen = join(bed.home, 'seen');
    await writeFile(
      join(bed.home, opener),
      '#!/bin/sh\nprintf %s "$1" >"$SEEN.part" && mv "$SEEN.part" "$SEEN"\n',
      {
        mode: 0o755,
      },
    );
    const env = { PATH: `${bed.home}:/bin`, SEEN: seen };
    const typed = await bed.run(['login'], { stdin: 'pf_typed\r', tty, env });
    const page = `${bed.url}/my/tokens?name=${encodeURIComponent(`pasteflow on ${hostname()}`)}`;
    expect([typed.code, typed.stdout]).toEqual([0, '']);
    expect(typed.stderr).toContain(`${page}\n`);
    expect(typed.stderr).toMatch(/^Token for http\S+: $/m);
    expect(typed.stderr).not.toContain('pf_typed');
    expect(tokensSeen()).toEqual(['Bearer pf_typed']);
    while (!existsSync(seen)) await setTimeout(10);
    expect(await readFile(seen, 'utf8')).toBe(page);
    const interrupt = new AbortController();
    const ending = bed.run(['login'], {
      stdin: 'pf_ha',
      tty,
      signal: interrupt.signal,
      env: { PATH: '/nowhere' },
    });
    void setTimeout(50).then(() => interrupt.abort(new Error('Ctrl-C')));
    expect(await ending).toMatchObject({ code: 1, stderr: expect.stringContaining('Interrupted.') });
    expect(bed.requests).toHaveLength(1);
  });

  it('uses XDG_CONFIG_HOME when it is absolute', async () => {
    bed.script(empty);
    await login('pf_new', { XDG_CONFIG_HOME: join(bed.home, 'elsewhere') });
    await login('pf_new', { XDG_CONFIG_HOME: 'relative' });
    expect((await readdir(bed.home)).toSorted()).toEqual(['.config', 'elsewhere']);
  });
});

describe('pasteflow logout', () => {
  const tokens = (scope: string) =>
    json(200, {
      tokens: [
        { id: 'another', scope: 'write', is_this: false },
        { id: ID, scope, is_this: true },
      ],
    });
  const done = json(204, {});

  it.each([
    ['revokes a token that its user has made', [tokens('write'), done], 0, 'It is revoked.'],
    ['leaves a token of the operator valid', [tokens('full')], 0, 'it stays valid'],
    ['takes a token that has ended', [problem(401, 'unauthorized', 'No.')], 0, 'no longer valid'],
    [
      'loses a race with another revocation',
      [tokens('write'), problem(404, 'token_not_found', 'No.')],
      0,
      'no longer valid',
    ],
    ['says what to do when the server fails', [json(500, {})], 1, '/my/tokens'],
    ['says what to do when the server is not there', [reset], 1, '/my/tokens'],
  ] as const)('%s, and forgets it', async (_name, answers, code, words) => {
    await keep({ server: bed.url, tokens: { [bed.url]: 'pf_kept', 'https://a.test': 'pf_a' } });
    bed.script(...answers);
    const ended = await bed.run(['logout']);
    expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(words) });
    expect(ended.stderr).not.toContain('pf_kept');
    const { tokens: left } = JSON.parse(await readFile(configPath(), 'utf8')) as { tokens: object };
    expect(left).toEqual({ 'https://a.test': 'pf_a' });
    expect(bed.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(
      ['GET /v1/tokens', `DELETE /v1/tokens/${ID}`].slice(0, answers.length),
    );
  });

  it('asks nothing of the server when no token is kept', async () => {
    const { code, stderr } = await bed.run(['logout']);
    expect([code, stderr]).toEqual([0, `No token for ${bed.url} is kept.\n`]);
    expect(bed.requests).toEqual([]);
  });
});
