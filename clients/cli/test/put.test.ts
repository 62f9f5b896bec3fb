import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { json, pasteWith, problem, reset, useBed, type Handler } from './support/bed.ts';

const bed = useBed();

const URL_OF = 'https://paste.example.org/q7Zk2Lm9Xa';
const created = (fields: object = {}): Handler => json(201, pasteWith(fields));

/** A paste whose code is its content. */
const named: Handler = (request, res) => {
  const code = request.body.toString();
  return json(201, pasteWith({ short_code: code, url: `https://x.test/${code}` }))(request, res);
};

async function files(count: number): Promise<string[]> {
  const paths = Array.from({ length: count }, (_, n) => join(bed.home, `file${n}`));
  await Promise.all(paths.map((path, n) => writeFile(path, `code${n}`)));
  return paths;
}

describe('pasteflow put', () => {
  it('prints the URL alone on stdout, for stdin and with the options of the paste', async () => {
    bed.script(created());
    const args = [
      'put',
      '--title',
      'A title',
      '-s',
      'text',
      '-e',
      '2h',
      '--private',
      '--burn',
      '--slug',
      'a-name',
    ];
    expect(await bed.run(args, { stdin: 'hello' })).toEqual({ code: 0, stdout: `${URL_OF}\n`, stderr: '' });
    const [{ method, path, body }] = bed.requests as [(typeof bed.requests)[0]];
    expect([method, body.toString()]).toEqual(['POST', 'hello']);
    expect(Object.fromEntries(new URL(path, bed.url).searchParams)).toEqual({
      title: 'A title',
      syntax: 'text',
      expires_in: '7200',
      visibility: 'private',
      burn: 'true',
      slug: 'a-name',
    });
  });

  it('names its readers, at most once', async () => {
    expect(await bed.run(['put', '--members'], { stdin: 'hello' })).toMatchObject({ code: 0 });
    const { path } = bed.requests.at(-1)!;
    expect(new URL(path, bed.url).searchParams.get('visibility')).toBe('members');
    const refused = await bed.run(['put', '--members', '--private'], { stdin: 'hello' });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('contradict each other')]);
  });

  it('names the paste that the new one is made from by its short code or its URL', async () => {
    for (const parent of ['q7Zk2Lm9Xa', `${bed.url}/q7Zk2Lm9Xa`]) {
      bed.script(created());
      expect(await bed.run(['put', '--parent', parent], { stdin: 'hello' })).toMatchObject({ code: 0 });
      const { path } = bed.requests.at(-1)!;
      expect(new URL(path, bed.url).searchParams.get('parent')).toBe('q7Zk2Lm9Xa');
    }
    const refused = await bed.run(['put', '--parent', '../x'], { stdin: 'hello' });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
  });

  it('prints the whole paste as a line of JSON with --json', async () => {
    bed.script(created({ delete_token: 'secret' }));
    const { stdout } = await bed.run(['put', '--json'], { stdin: 'hello' });
    expect(stdout.endsWith('\n')).toBe(true);
    expect(JSON.parse(stdout)).toMatchObject({ file: '-', short_code: 'q7Zk2Lm9Xa', delete_token: 'secret' });
  });

  it('prints the URL with the slug, and says that a slug is taken', async () => {
    const url = 'https://paste.example.org/~a-name';
    bed.script(created({ slug: 'a-name', url }), problem(409, 'slug_taken', 'Choose another slug.'));
    const run = () => bed.run(['put', '--slug', 'a-name'], { stdin: 'hello' });
    expect(await run()).toEqual({ code: 0, stdout: `${url}\n`, stderr: '' });
    expect(await run()).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('Choose another slug.'),
    });
  });

  it('takes a slug for one paste only', async () => {
    const { code, stderr } = await bed.run(['put', '--each', '--slug', 'a-name', ...(await files(2))]);
    expect([code, bed.requests.length]).toEqual([2, 0]);
    expect(stderr).toContain('--slug is for one paste');
  });

  it('draws the QR code on stderr', async () => {
    bed.script(created());
    const { stdout, stderr } = await bed.run(['put', '--qr'], { stdin: 'hello' });
    expect(stdout).toBe(`${URL_OF}\n`);
    expect(stderr.split('\n').length).toBeGreaterThan(10);
    expect(stderr).toMatch(/[█▀▄]/);
  });

  it('waits until the content is stored with --wait', async () => {
    bed.script(created(), json(200, pasteWith({ status: 'PROCESSED' })));
    const { stdout } = await bed.run(['put', '--wait', '--json'], { stdin: 'hello' });
    expect(JSON.parse(stdout)).toMatchObject({ status: 'PROCESSED' });
  });

  it('sends at most four pastes at once, and prints their URLs in the order of the arguments', async () => {
    const waiting: (() => void)[] = [];
    let most = 0;
    bed.script(async (request, res) => {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        most = Math.max(most, waiting.length);
        if (waiting.length < 4 && !request.body.toString().match(/code[89]/)) return;
        // A fifth would come within this time. Then the last one is answered first.
        setTimeout(
          () =>
            waiting
              .splice(0)
              .toReversed()
              .forEach((answer) => answer()),
          100,
        );
      });
      return named(request, res);
    });
    const { code, stdout } = await bed.run(['put', '--each', ...(await files(10))]);
    expect(code).toBe(0);
    expect(stdout).toBe(Array.from({ length: 10 }, (_, n) => `https://x.test/code${n}\n`).join(''));
    expect(most).toBe(4);
  });

  it('goes on with the other files when one fails, names it safely, and ends with 1', async () => {
    bed.script(named);
    const [first, second] = await files(2);
    const missing = join(bed.home, 'not\u001b[2Jhere');
    const { code, stdout, stderr } = await bed.run(['put', '--each', first!, missing, bed.home, second!]);
    expect([code, stdout]).toEqual([1, 'https://x.test/code0\nhttps://x.test/code1\n']);
    expect(stderr).toContain('not\\u{1b}[2Jhere: ');
    expect(stderr).toContain('There is no such file or folder.');
    expect(stderr).toContain('This is a directory.');
    expect(stderr).not.toContain('\u001b');
  });

  it('says how to send a file whose name is not UTF-8', async () => {
    const { code, stderr } = await bed.run(['put', join(bed.home, 'caf\ufffd')]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('pasteflow put - < FILE')]);
  });

  it('repeats a request whose answer was lost with the same key and the same bytes, until the server takes it', async () => {
    const content = Buffer.alloc(300_000, 'x');
    const path = join(bed.home, 'large');
    await writeFile(path, content);
    bed.script(
      reset,
      problem(503, 'overloaded', 'Too much.', { 'retry-after': '0' }),
      problem(429, 'rate_limited', 'Too often.', { 'retry-after': '0' }),
      created(),
    );
    expect(await bed.run(['put', path])).toMatchObject({ code: 0, stdout: `${URL_OF}\n` });
    expect(bed.requests).toHaveLength(4);
    expect(new Set(bed.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    for (const { body } of bed.requests) expect(body.equals(content)).toBe(true);
  });

  it('says once that it was interrupted, however many files are left', async () => {
    const interrupt = new AbortController();
    bed.script(() => void setTimeout(() => interrupt.abort(new Error('Ctrl-C')), 20));
    const { code, stdout, stderr } = await bed.run(['put', '--each', ...(await files(9))], {
      signal: interrupt.signal,
    });
    expect([code, stdout, stderr]).toEqual([1, '', 'pasteflow: Interrupted.\n']);
  });

  it('says what the server refuses, without its escape sequences, and ends with 1', async () => {
    bed.script(problem(422, 'validation_failed', 'Wrong\u001b]0;title\u0007 \u202eway.'));
    const { code, stdout, stderr } = await bed.run(['put'], { stdin: 'x' });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe('pasteflow: stdin: Wrong\\u{1b}]0;title\\u{7} \\u{202e}way.\n');
  });

  it.each([
    [['put', '--each', '--title', 'x', 'a', 'b'], '--title is for one paste'],
    [['put', '-', '-'], '- can be named once'],
    [['put', '--expires', 'soon'], 'is not a time'],
    [['put', '--exp\u001b[2J'], '\\u{1b}[2J'],
    [['nothing'], 'unknown command'],
    [['cat'], 'missing required argument'],
    [['--server', 'ftp://x', 'put'], 'is not a URL'],
    [['--server', 'https://user:hunter2@x', 'put'], 'without a user name, a password'],
    [['--server', 'http//user:hunter2@x', 'put'], 'without a user name, a password'],
  ])('ends with 2 for the command line %j', async (args, message) => {
    const { code, stdout, stderr } = await bed.run(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('\u001b');
    expect(stderr).not.toContain('hunter2');
    expect(bed.requests).toEqual([]);
  });

  it('colours the word before an error on a terminal only, and never with NO_COLOR', async () => {
    bed.script(problem(422, 'validation_failed', 'Wrong.'));
    const plain = 'pasteflow: stdin: Wrong.\n';
    const of = async (options: object) => (await bed.run(['put'], { stdin: 'x', ...options })).stderr;
    expect(await of({})).toBe(plain);
    expect(await of({ tty: ['stderr'] })).toContain('\u001b[31mpasteflow:\u001b[0m');
    expect(await of({ tty: ['stderr'], env: { NO_COLOR: '1' } })).toContain(plain);
  });

  it('draws its progress on a terminal only', async () => {
    bed.script(named);
    const paths = await files(3);
    expect((await bed.run(['put', '--each', ...paths], { tty: ['stderr'] })).stderr).toContain('of 3 sent');
    expect((await bed.run(['put', '--each', ...paths])).stderr).toBe('');
  });
});

describe('the delete token of an anonymous paste', () => {
  const folder = () => join(bed.home, '.local/state/pasteflow/delete-tokens', encodeURIComponent(bed.url));

  it('is kept for its owner alone, and lets rm delete the paste', async () => {
    bed.script(created({ delete_token: 'the token' }), (_request, res) => void res.writeHead(204).end());
    await bed.run(['put'], { stdin: 'hello' });
    const path = join(folder(), 'q7Zk2Lm9Xa');
    expect(await readFile(path, 'utf8')).toBe('the token\n');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(folder())).mode & 0o777).toBe(0o700);
    expect(await bed.run(['rm', 'q7Zk2Lm9Xa'])).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(bed.requests[1]).toMatchObject({ method: 'DELETE', headers: { 'delete-token': 'the token' } });
    expect(await readdir(folder())).toEqual([]);
  });

  it('is asked for by a short code only: a paste with a slug has an owner', async () => {
    bed.script((_request, res) => void res.writeHead(204).end());
    expect(await bed.run(['rm', `${bed.url}/%7ea-name`])).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(bed.requests[0]).toMatchObject({ method: 'DELETE', path: '/v1/pastes/~a-name' });
  });

  it('is kept when the server refuses to delete, and forgotten when the paste is gone', async () => {
    bed.script(
      created({ delete_token: 't' }),
      problem(401, 'unauthorized', 'No.'),
      problem(410, 'paste_gone', 'Gone.'),
    );
    await bed.run(['put'], { stdin: 'hello' });
    for (const left of [['q7Zk2Lm9Xa'], []]) {
      expect((await bed.run(['rm', 'q7Zk2Lm9Xa'])).code).toBe(1);
      expect(await readdir(folder())).toEqual(left);
    }
  });

  it('is written to no other folder, whatever code a hostile server invents', async () => {
    for (const code of ['../../../../evil', '/tmp/evil', '..', 'a/b', '\u001b[2J', '']) {
      bed.script(created({ short_code: code, delete_token: 't' }));
      const { code: exit, stderr } = await bed.run(['put'], { stdin: 'hello' });
      expect(exit).toBe(1);
      expect(stderr).toContain('is not a short code');
      expect(stderr).not.toContain('\u001b');
    }
    expect(await readdir(bed.home)).toEqual([]);
  });

  it('of several puts at the same time is lost for none', async () => {
    bed.script((request, res) => {
      const code = request.body.toString();
      return json(201, pasteWith({ short_code: code, delete_token: `of ${code}` }))(request, res);
    });
    await Promise.all((await files(8)).map((path) => bed.run(['put', path])));
    expect((await readdir(folder())).toSorted()).toEqual(Array.from({ length: 8 }, (_, n) => `code${n}`));
  });

  it('does not overwrite the target of a link that somebody has put in its place', async () => {
    bed.script(created({ delete_token: 'first' }));
    await bed.run(['put'], { stdin: 'hello' });
    const victim = join(bed.home, 'victim');
    await writeFile(victim, 'safe');
    await symlink(victim, join(folder(), 'other'));
    bed.script(created({ short_code: 'other', delete_token: 'second' }));
    await bed.run(['put'], { stdin: 'hello' });
    expect(await readFile(victim, 'utf8')).toBe('safe');
  });
});
