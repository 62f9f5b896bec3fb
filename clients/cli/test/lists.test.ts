import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { timeFrom } from '../src/commands/pastes.ts';
import { json, pasteWith, problem, useBed, type Handler } from './support/bed.ts';
import { env, route } from './support/jobs.ts';

const bed = useBed();

const gone: Handler = (_request, res) => void res.writeHead(204).end();

describe('pasteflow ls', () => {
  /** 250 pastes, in pages of the size that is asked for. */
  const paged: Handler = (request, res) => {
    const query = new URL(request.path, bed.url).searchParams;
    const from = Number(query.get('cursor') ?? 0);
    const end = Math.min(from + Number(query.get('limit')), 250);
    const pastes = Array.from({ length: end - from }, (_, n) => pasteWith({ short_code: `code${from + n}` }));
    return json(200, { pastes, next_cursor: end < 250 ? String(end) : null })(request, res);
  };
  const lines = async (...args: string[]) =>
    (await bed.run(['ls', ...args], { env })).stdout.trim().split('\n').length;

  it('lists twenty pastes, as many as --limit asks for, or all of them', async () => {
    bed.script(paged);
    expect(await lines()).toBe(20);
    expect(await lines('-n', '150')).toBe(150);
    expect(await lines('--limit', '1000')).toBe(250);
  });

  it('says on stderr when there are more', async () => {
    bed.script(paged);
    const noteOf = async (...args: string[]) => (await bed.run(['ls', ...args], { env })).stderr;
    expect(await noteOf()).toBe('Listed: the first 20. For more: pasteflow ls -n 100\n');
    expect(await noteOf('-n', '150')).toContain('Listed: the first 150.');
    expect(await noteOf('-n', '240')).toContain('Listed: the first 240.'); // the last page has more than that
    expect(await noteOf('-n', '250')).toBe('');
  });

  it.each([
    [-30_000, 'now'],
    [59_999, 'now'],
    [-61_000, '1 minute ago'],
    [-7_199_000, '2 hours ago'],
    [30 * 86_400_000 - 1, 'in 30 days'],
  ])('shows the time %d ms from now as %j', (ms, text) => {
    expect(timeFrom(1e12, new Date(1e12 + ms).toISOString())).toBe(text);
  });

  it('names the first files of a paste of several', async () => {
    const files = ['src/a.py', 'b\u001b[2J', 'c', 'd', 'e'].map((name, offset) => ({
      name,
      offset,
      size: 1,
      syntax: null,
    }));
    const pastes = [
      pasteWith({ files, title: 'Five' }),
      pasteWith({ files: files.slice(0, 2) }),
      pasteWith({ files: null }),
    ];
    bed.script(json(200, { pastes, next_cursor: null }));
    const { stdout } = await bed.run(['ls'], { env });
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split('unlisted')[1]),
    ).toEqual(['  Five (src/a.py, b\\u{1b}[2J, c, 2 more)', '  src/a.py, b\\u{1b}[2J', '']);
  });

  it('asks for the pastes of one status, in either case, and prints nothing when there are none', async () => {
    bed.script(json(200, { pastes: [], next_cursor: null }));
    expect(await bed.run(['ls', '--status', 'failed'], { env })).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(new URL(bed.requests[0]!.path, bed.url).searchParams.get('status')).toBe('FAILED');
  });

  it.each([
    ['--limit', '1.5', '--limit takes a number'],
    ['--limit', 'many', '--limit takes a number'],
    ['--status', 'GONE', '--status takes one of'],
  ])('refuses %s %s with 2', async (option, value, message) => {
    const { code, stderr } = await bed.run(['ls', option, value], { env });
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(bed.requests).toEqual([]);
  });

  it('needs a token, and says how to get one', async () => {
    bed.script(problem(401, 'unauthorized', 'Send a token.'));
    const { code, stderr } = await bed.run(['ls']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('pasteflow login')]);
  });
});

describe('pasteflow receipt', () => {
  const at = '2026-11-21T12:05:00.000Z';
  it.each([
    [{ read_at: null, reader: null }, 'not fetched yet'],
    [{ read_at: at, reader: null }, `fetched ${at} by somebody with the link`],
    [{ read_at: at, reader: { name: 'a script', issuer: null } }, `fetched ${at} by a script`],
    [
      { read_at: at, reader: { name: 'Anna\u202e', issuer: 'https://login.example.org/a' } },
      `fetched ${at} by Anna\\u{202e}, as login.example.org says`,
    ],
  ])('%j', async (receipt, line) => {
    route(bed, { 'GET /v1/pastes/q7Zk2Lm9Xa/receipt': json(200, receipt) });
    expect(await bed.run(['receipt', 'q7Zk2Lm9Xa'], { env })).toEqual({
      code: 0,
      stdout: `${line}\n`,
      stderr: '',
    });
    expect(JSON.parse((await bed.run(['--json', 'receipt', 'q7Zk2Lm9Xa'], { env })).stdout)).toEqual(receipt);
  });

  it('sends the delete token that put has kept, or the one that is given', async () => {
    route(bed, { 'GET /v1/pastes/first/receipt': json(200, { read_at: null, reader: null }) });
    const folder = join(bed.home, '.local/state/pasteflow/delete-tokens', encodeURIComponent(bed.url));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'first'), 'kept\n');
    await bed.run(['receipt', 'first']);
    await bed.run(['receipt', '--delete-token', 'given', 'first']);
    expect(bed.requests.map(({ headers }) => headers['delete-token'])).toEqual(['kept', 'given']);
    expect(await readdir(folder)).toEqual(['first']);
  });

  it('has its mark in the list', async () => {
    const pastes = [pasteWith({ read_at: new Date(Date.now() - 7_200_000).toISOString() }), pasteWith({})];
    bed.script(json(200, { pastes, next_cursor: null }));
    const [first, second] = (await bed.run(['ls'], { env })).stdout.split('\n');
    expect(first).toContain('fetched 2 hours ago');
    expect(second).toContain('never expires');
  });
});

describe('pasteflow rm', () => {
  it('goes on with the other pastes when one fails, and ends with 1', async () => {
    route(bed, {
      'DELETE /v1/pastes/first': gone,
      'DELETE /v1/pastes/second': problem(404, 'paste_not_found', 'There is no such\u001b[2J paste.'),
      'DELETE /v1/pastes/third': gone,
    });
    const { code, stdout, stderr } = await bed.run(['rm', 'first', 'second', 'third'], { env });
    expect([code, stdout, stderr]).toEqual([1, '', 'pasteflow: second: There is no such\\u{1b}[2J paste.\n']);
    expect(bed.requests).toHaveLength(3);
  });

  it('prints each deleted paste with --json', async () => {
    bed.script(gone);
    const { stdout } = await bed.run(['--json', 'rm', 'first', 'second'], { env });
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      { short_code: 'first', deleted: true },
      { short_code: 'second', deleted: true },
    ]);
  });

  it('takes the delete token of a paste that was made elsewhere, before one that is kept here', async () => {
    bed.script(gone);
    const folder = join(bed.home, '.local/state/pasteflow/delete-tokens', encodeURIComponent(bed.url));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'first'), 'kept\n');
    expect((await bed.run(['rm', '--delete-token', 'given', 'first'])).code).toBe(0);
    expect(bed.requests[0]!.headers['delete-token']).toBe('given');
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    [['rm', '--delete-token', 't', 'a', 'b'], '--delete-token is for one paste'],
    [['rm', '019aa5b2-7c00-7b6e-9c3d-5f2a1e8d4c70'], 'is the id of a job'],
    [['rm', 'https://elsewhere.test/q7Zk2Lm9Xa'], 'another server'],
    [['rm', '../../etc'], 'is neither a short code'],
  ])('refuses %j with 2', async (args, message) => {
    const { code, stderr } = await bed.run(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(bed.requests).toEqual([]);
  });
});

describe('pasteflow history', () => {
  const version = { version: 2, short_code: 'new', title: 'notes\u001b.md', size_bytes: 5, parent: 'old' };
  const versions = [
    { ...version, named_at: new Date().toISOString(), visibility: 'unlisted' },
    { ...version, version: 1, short_code: 'old', named_at: '2020-01-01T00:00:00.000Z', title: null },
  ];

  it('lists the versions of a slug, newest first', async () => {
    route(bed, { 'GET /v1/pastes/~notes/history': json(200, { versions }) });
    const { code, stdout } = await bed.run(['history', '~notes'], { env });
    const [newest = '', oldest = ''] = stdout.split('\n');
    expect([code, newest]).toEqual([
      0,
      expect.stringMatching(/^2 {2}new {2}5 B {2}now +notes\\u\{1b\}\.md$/),
    ]);
    expect(oldest).toMatch(/^1 {2}old {2}5 B {2}[\d,]+ days ago$/);
    const lines = (await bed.run(['--json', 'history', '~notes'], { env })).stdout.trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { version: number }).version)).toEqual([2, 1]);
  });
});
