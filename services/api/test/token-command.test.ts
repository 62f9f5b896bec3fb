import { beforeAll, describe, expect, it } from '@jest/globals';
import { spawnCommand, spawnService, urlOfService } from '@pasteflow/dev-stack/testing';
import { ensureUser } from '@pasteflow/postgres';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hashOfSecret, newApiToken } from '../src/http/callers/secret.ts';
import { parseTokenCommand } from '../src/tokens/command-line.ts';
import { runTokenCommand } from '../src/tokens/token-command.ts';
import { useTokenCommand } from './support/token-bed.ts';

const bed = useTokenCommand();
const { run, made, rowOf } = bed;

describe('npm run token -- NAME', () => {
  it('makes a token of the user, and creates a user that does not exist', async () => {
    const first = await rowOf(await made('alice'));
    const second = await rowOf(await made('alice'));
    expect(first).toMatchObject({ user_name: 'alice', name: 'cli', expires_at: null, revoked_at: null });
    expect(second.user_id).toBe(first.user_id);
  });

  it('prints only the token on stdout, and the rest on stderr', async () => {
    const { stdout, stderr } = await run('alice');
    expect(stderr).toContain('A new API token of the user alice');
    expect(stderr).not.toContain(stdout.trim());
  });

  it.each([
    ['90', 90],
    ['90s', 90],
    ['30m', 1800],
    ['12h', 43_200],
    ['90d', 7_776_000],
  ])('makes a token that expires after %s', async (text, seconds) => {
    const { expires_at, created_at } = await rowOf(await made('alice', '--expires-in', text));
    expect(expires_at!.getTime() - created_at.getTime()).toBe(seconds * 1000);
  });

  it('makes no user with an invisible name, and goes on to make tokens of one of an earlier release', async () => {
    const named = 'al\u200bice';
    expect(await run(named)).toMatchObject({ code: 64, stdout: '' });
    await ensureUser(bed.db, named);
    expect(await rowOf(await made(named))).toMatchObject({ user_name: named });
    expect(await run(named, '--token-name', 'lap\u200ftop')).toMatchObject({ code: 64, stdout: '' });
  });

  it('names the token by --token-name', async () => {
    expect(await rowOf(await made('--token-name', 'my laptop', 'Ann Other'))).toMatchObject({
      name: 'my laptop',
      user_name: 'Ann Other',
    });
  });
});

describe('--list NAME', () => {
  it('prints a table of the user’s tokens and their states, without the tokens', async () => {
    const good = await made('lister', '--token-name', 'in use');
    const expiring = await rowOf(await made('lister', '--expires-in', '90d'));
    const revoked = await rowOf(await made('lister', '--token-name', 'old'));
    await run('--revoke', revoked.id);
    const { code, stdout, stderr } = await run('--list', 'lister');
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    const columns = lines.map((line) => line.split(/ {2,}/));
    const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(columns).toEqual([
      ['ID', 'NAME', 'SCOPE', 'CREATED', 'LAST USED', 'EXPIRES', 'STATE'],
      [(await rowOf(good)).id, 'in use', 'full', instant, 'never', 'never', 'good'],
      [expiring.id, 'cli', 'full', instant, 'never', instant, 'good'],
      [revoked.id, 'old', 'full', instant, 'never', 'never', 'revoked'],
    ]);
    expect(new Set(lines.map((line) => line.lastIndexOf('  '))).size).toBe(1); // columns under each other
    expect(stdout).not.toContain('pf_');
  });

  it('prints JSON with --json', async () => {
    const token = await rowOf(await made('json lister'));
    const { stdout } = await run('--list', 'json lister', '--json');
    expect(JSON.parse(stdout)).toEqual([
      {
        id: token.id,
        name: 'cli',
        scope: 'full',
        made_by: null,
        created_at: token.created_at.toISOString(),
        last_used_at: null,
        expires_at: null,
        revoked_at: null,
        state: 'good',
      },
    ]);
  });

  it('reports a user without tokens, and a user that does not exist', async () => {
    await ensureUser(bed.db, 'tokenless');
    expect(await run('--list', 'tokenless')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'tokenless has no tokens.\n',
    });
    expect(await run('--list', 'nobody')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'token: there is no user nobody\n',
    });
  });
});

describe('--revoke ID', () => {
  it('revokes a token, and reports one that was revoked before or does not exist', async () => {
    const { id } = await rowOf(await made('alice'));
    const first = await run('--revoke', id.toUpperCase());
    expect(first).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('is revoked') });
    expect((await run('--revoke', id)).stderr).toContain('was revoked before');
    const unknown = await run('--revoke', '019aa5b2-7c00-7000-8000-000000000000');
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('--list NAME shows the ids') });
  });
});

describe('the command line', () => {
  it.each([
    [[]],
    [['']],
    [[' ']],
    [['a\nb']],
    [['alice', 'bob']],
    [['alice', '--expires-in', '0']],
    [['alice', '--expires-in', '-1']],
    [['alice', '--expires-in', '1y']],
    [['alice', '--expires-in', '3651d']],
    [['alice', '--expires-in=']],
    [['alice', '--token-name', '']],
    [['alice', '--json']],
    [['--list']],
    [['--list', 'alice', 'bob']],
    [['--list', 'alice', '--expires-in', '1d']],
    [['--list', 'alice', '--revoke', '019aa5b2-7c00-7000-8000-000000000000']],
    [['--revoke']],
    [['--revoke', 'alice']],
    [['--revoke', '019aa5b2-7c00-7000-8000-000000000000', '--json']],
    [['--colour']],
  ])('refuses %j with what is wrong, the usage and 64', async (args) => {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout]).toEqual([64, '']);
    expect(stderr).toMatch(/^token: .+\n\nUsage:\n {2}npm run token -- NAME /);
  });

  it('never prints a token that was given in the wrong place', async () => {
    const token = newApiToken();
    for (const args of [
      ['--revoke', token],
      ['alice', token],
      ['--list', 'alice', token],
    ])
      expect((await run(...args)).stderr).not.toContain(token.slice(3));
  });

  it('understands --help and -h', () => {
    expect(parseTokenCommand(['--help'])).toEqual({ kind: 'help' });
    expect(parseTokenCommand(['-h'])).toEqual({ kind: 'help' });
  });
});

describe('the database', () => {
  it('is that of the embedded stack when the environment names none', async () => {
    writeFileSync(join(bed.folder, 'stack.env'), `DATABASE_URL=${bed.databaseUrl}\nAWS_REGION=us-east-1\n`);
    const { code, stdout } = await ended('from a file', { PASTEFLOW_DATA_DIR: bed.folder });
    expect(code).toBe(0);
    expect(await rowOf(stdout.trim())).toMatchObject({ user_name: 'from a file' });
  });

  it('is asked for, with what to do, when there is none (78)', async () => {
    const empty = join(bed.folder, 'empty');
    const none = await ended('alice', { PASTEFLOW_DATA_DIR: empty });
    expect(none).toMatchObject({ code: 78, stdout: '', stderr: expect.stringContaining('`npm start`') });
    expect(none.stderr).toContain('DATABASE_URL is missing');
    expect(none.stderr).toContain(join(empty, 'stack.env'));
    expect(existsSync(empty)).toBe(false);
    writeFileSync(join(bed.folder, 'stack.env'), 'AWS_REGION=us-east-1\n');
    const external = await ended('alice', { PASTEFLOW_DATA_DIR: bed.folder });
    expect(external).toMatchObject({ code: 78, stderr: expect.stringContaining('set DATABASE_URL') });
  });

  it('is refused when its URL is not one of Postgres (78)', async () => {
    const answer = await runTokenCommand(['alice'], { DATABASE_URL: 'mysql://user:secret@x/y' });
    expect(answer).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('DATABASE_URL is not a URL that starts with postgres://'),
    });
    expect(answer.stderr).not.toContain('secret');
  });

  it('that does not answer, or was not migrated, is named with what to do (1)', async () => {
    const away = 'postgres://user:secret@127.0.0.1:1/pasteflow';
    const answer = await runTokenCommand(['alice'], { DATABASE_URL: away });
    expect(answer).toMatchObject({ code: 1, stdout: '' });
    expect(answer.stderr).toMatch(
      /^token: Postgres at 127\.0\.0\.1:1 does not answer \(.*ECONNREFUSED.*\): check/,
    );
    expect(answer.stderr).not.toContain('secret');
    const socket = await runTokenCommand(['alice'], { DATABASE_URL: 'postgres://me@/x?host=/none' });
    expect(socket.stderr).toMatch(/^token: Postgres does not answer \(.*ENOENT.*\): check DATABASE_URL/);
    writeFileSync(join(bed.folder, 'stack.env'), `DATABASE_URL=${away}\n`);
    const stale = await ended('alice', { PASTEFLOW_DATA_DIR: bed.folder });
    expect(stale).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is `npm start` still running?'),
    });
    const bare = await runTokenCommand(['alice'], { DATABASE_URL: bed.stack.postgres.url });
    expect(bare).toMatchObject({ code: 1, stderr: expect.stringContaining('run the migration first') });
  });

  /** `npm run token -- NAME`, as a process. */
  async function ended(name: string, env: Record<string, string>) {
    const token = spawnCommand('token', [name], env);
    const { code } = await token.exited;
    return { code, stdout: token.stdout.join('\n'), stderr: token.stderr.join('\n') };
  }
});

describe('the process', () => {
  const entry = fileURLToPath(new URL('../src/token-main.ts', import.meta.url));

  it('needs only DATABASE_URL, and exits with the code of the answer', async () => {
    const good = spawnService({
      entry,
      args: ['alice'],
      env: { DATABASE_URL: urlOfService(bed.databaseUrl, 'api') },
    });
    expect(await good.exited).toEqual({ code: 0, signal: null });
    expect(good.stdout).toEqual([expect.stringMatching(/^pf_[\w-]{43}$/)]);
    const misused = spawnService({ entry, env: { DATABASE_URL: urlOfService(bed.databaseUrl, 'api') } });
    expect((await misused.exited).code).toBe(64);
  });
});

describe('--keep-in FILE', () => {
  beforeAll(() => mkdirSync(join(bed.folder, 'kept')));
  const file = () => join(bed.folder, 'kept', 'dev-token');
  const mode = () => (statSync(file()).mode & 0o777).toString(8);

  it('keeps the token readable by its owner alone, and prints the same token while it is good', async () => {
    const token = await made('dev', '--keep-in', file());
    expect([readFileSync(file(), 'utf8'), mode()]).toEqual([`${token}\n`, '600']);
    expect(await made('dev', '--keep-in', file())).toBe(token);
    expect((await rowOf(token)).last_used_at).toBeNull();
    chmodSync(file(), 0o644);
    expect([await made('dev', '--keep-in', file()), mode()]).toEqual([token, '600']);
    expect(readdirSync(join(bed.folder, 'kept'))).toEqual(['dev-token']);
  });

  it('makes a new token when the kept one is revoked, expired, unknown, of another user or malformed', async () => {
    const seen = new Set([await made('dev', '--keep-in', file())]);
    const spoil: (() => Promise<unknown>)[] = [
      async () => await run('--revoke', (await rowOf([...seen].at(-1)!)).id),
      async () => writeFileSync(file(), `${newApiToken()}\n`),
      async () => writeFileSync(file(), `${await made('somebody else')}\n`),
      async () => writeFileSync(file(), ''),
      async () => writeFileSync(file(), 'nonsense'),
      async () =>
        await bed.db
          .updateTable('api_tokens')
          .set({ expires_at: new Date() })
          .where('token_hash', '=', hashOfSecret([...seen].at(-1)!))
          .execute(),
    ];
    for (const [n, spoiling] of spoil.entries()) {
      await spoiling();
      seen.add(await made('dev', '--keep-in', file()));
      expect(seen.size).toBe(n + 2);
    }
  });

  it('revokes the new token when the file cannot be written', async () => {
    const unusable = join(bed.folder, 'no-folder', 'token');
    const { code, stdout, stderr } = await run('keeper', '--keep-in', unusable);
    expect([code, stdout]).toEqual([1, '']);
    expect(existsSync(join(bed.folder, 'no-folder'))).toBe(false);
    expect(stderr).toMatch(/^token: .*no-folder\/token can't be used to keep a token \(.*\)\n$/);
    const rows = await bed.db
      .selectFrom('api_tokens')
      .innerJoin('users', 'users.id', 'user_id')
      .select('revoked_at')
      .where('users.name', '=', 'keeper')
      .execute();
    expect(rows).toEqual([{ revoked_at: expect.any(Date) }]);
  });
});
