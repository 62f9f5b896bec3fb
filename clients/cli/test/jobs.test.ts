import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { json, pasteWith, problem, useBed, type Handler } from './support/bed.ts';
import { asset, env, ID, jobWith, queued, route } from './support/jobs.ts';

const bed = useBed();

const routes = (table: Parameters<typeof route>[1]): void => route(bed, table);
const gone: Handler = (_request, res) => void res.writeHead(204).end();

describe('pasteflow import', () => {
  const source = json(201, pasteWith({ status: 'PROCESSED' }));
  const stored = json(200, pasteWith({ status: 'PROCESSED' }));

  it('prints the URLs of the new pastes, and removes the archive from the server', async () => {
    const assets = ['https://x.test/first', 'https://x.test/second'].map((url) => asset(url, 1));
    routes({
      'POST /v1/pastes': source,
      'GET /v1/pastes/q7Zk2Lm9Xa': stored,
      'POST /v1/jobs': queued,
      [`GET /v1/jobs/${ID}`]: json(200, jobWith({})),
      [`GET /v1/jobs/${ID}/assets`]: json(200, { assets, next_cursor: null }),
      'DELETE /v1/pastes/q7Zk2Lm9Xa': gone,
    });
    const args = ['import', '--members', '--as-one-paste', '-'];
    const ended = await bed.run(args, { stdin: '{"content":"x"}', env });
    expect(ended).toEqual({ code: 0, stdout: 'https://x.test/first\nhttps://x.test/second\n', stderr: '' });
    const made = bed.requests.find(({ path }) => path === '/v1/jobs');
    expect(JSON.parse(made!.body.toString())).toEqual({
      job_type: 'import',
      parameters: { source_short_code: 'q7Zk2Lm9Xa', visibility: 'members', as_one_paste: true },
    });
    expect(bed.requests.at(-2)?.method).toBe('DELETE');
  });

  it.each([
    [3600, '3600'],
    [31_536_000, '604800'],
  ])('keeps the archive for no longer than the house allows: %d seconds', async (max, sent) => {
    routes({
      'GET /v1/instance': json(200, { expiry: { default: 60, max, never: false } }),
      'POST /v1/pastes': source,
      'GET /v1/pastes/q7Zk2Lm9Xa': stored,
      'POST /v1/jobs': queued,
      [`GET /v1/jobs/${ID}`]: json(200, jobWith({})),
      [`GET /v1/jobs/${ID}/assets`]: json(200, { assets: [], next_cursor: null }),
      'DELETE /v1/pastes/q7Zk2Lm9Xa': gone,
    });
    expect(await bed.run(['import', '-'], { stdin: 'x', env })).toMatchObject({ code: 0, stderr: '' });
    const made = bed.requests.find(({ method, path }) => method === 'POST' && path.startsWith('/v1/pastes'));
    expect(new URL(made!.path, bed.url).searchParams.get('expires_in')).toBe(sent);
  });

  it('ends with 1 and names the entries that failed, safely', async () => {
    const errors = [
      { position: 3, name: 'a\u001b[2J', reason: 'is empty' },
      { position: 0, name: null, reason: 'is no JSON' },
    ];
    const result = { errors };
    routes({
      'POST /v1/pastes': source,
      'GET /v1/pastes/q7Zk2Lm9Xa': stored,
      'POST /v1/jobs': queued,
      [`GET /v1/jobs/${ID}`]: json(200, jobWith({ status: 'partial', error_message: '1 failed', result })),
      [`GET /v1/jobs/${ID}/assets`]: json(200, { assets: [], next_cursor: null }),
      'DELETE /v1/pastes/q7Zk2Lm9Xa': gone,
    });
    const { code, stdout, stderr } = await bed.run(['import', '-'], { stdin: 'x', env });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe('pasteflow: -: 1 failed\nentry 4 a\\u{1b}[2J: is empty\nline 1: is no JSON\n');
  });

  it('needs a token, and asks for it before it sends anything', async () => {
    const { code, stderr } = await bed.run(['import', '-'], { stdin: 'x' });
    expect([code, stderr]).toEqual([2, expect.stringContaining('pasteflow login')]);
    expect(bed.requests).toEqual([]);
  });

  it('says when it is interrupted that the job goes on, and how to end it', async () => {
    const interrupt = new AbortController();
    routes({
      'POST /v1/pastes': source,
      'GET /v1/pastes/q7Zk2Lm9Xa': stored,
      'POST /v1/jobs': queued,
      [`GET /v1/jobs/${ID}`]: (request, res) => {
        setTimeout(() => interrupt.abort(new Error('Ctrl-C')), 30);
        return json(200, jobWith({ status: 'processing', progress: 10 }))(request, res);
      },
    });
    const { code, stderr } = await bed.run(['import', '-'], { stdin: 'x', env, signal: interrupt.signal });
    expect(code).toBe(1);
    expect(stderr).toBe(
      `Job ${ID} may go on. To wait for it: pasteflow watch ${ID}. To end it: pasteflow cancel ${ID}\npasteflow: Interrupted.\n`,
    );
  });
});

describe('pasteflow watch', () => {
  const events =
    (...blocks: [string, object][]): Handler =>
    (_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.end(
        blocks
          .map(([event, data], n) => `event: ${event}\nid: ${n}\ndata: ${JSON.stringify(data)}\n\n`)
          .join(''),
      );
    };
  const step = {
    machine: 'job',
    entity: ID,
    from: 'queued',
    to: 'processing',
    at: '2026-11-22T12:00:00.000Z',
    actor: 'worker',
    reason_class: 'claimed',
    reason: 'cl\u001b[2Jaimed',
  };

  it.each([
    ['completed', 0],
    ['partial', 1],
    ['failed', 1],
  ])('prints the events until the job is %s, and ends with %d', async (status, expected) => {
    routes({
      [`GET /v1/jobs/${ID}/events`]: events(
        ['transition', step],
        ['progress', { progress: 40, progress_message: 'a\u009bb' }],
        ['end', { status }],
      ),
    });
    const { code, stdout } = await bed.run(['watch', ID], { env });
    expect(code).toBe(expected);
    expect(stdout).toBe(
      `2026-11-22T12:00:00.000Z  job  queued → processing  worker  cl\\u{1b}[2Jaimed\n40 %  a\\u{9b}b\nend  ${status}\n`,
    );
  });
});

describe('pasteflow cancel', () => {
  it('prints the state of the cancelled job, and says why a job that has ended cannot be cancelled', async () => {
    routes({ [`POST /v1/jobs/${ID}/cancel`]: json(200, jobWith({ status: 'partial' })) });
    expect(await bed.run(['cancel', ID.toUpperCase()], { env })).toEqual({
      code: 0,
      stdout: 'partial\n',
      stderr: '',
    });
    routes({ [`POST /v1/jobs/${ID}/cancel`]: problem(409, 'job_ended', 'It has ended.') });
    expect(await bed.run(['cancel', ID], { env })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'pasteflow: It has ended.\n',
    });
    expect((await bed.run(['cancel', 'q7Zk2Lm9Xa'], { env })).code).toBe(2);
  });
});

describe('pasteflow ls and timeline', () => {
  it('show titles and reasons of strangers safely, in columns', async () => {
    const pastes = [
      pasteWith({ title: 'a\u001b]0;x\u0007' }),
      pasteWith({ short_code: 'b', size_bytes: 2048 }),
    ];
    routes({
      'GET /v1/pastes': json(200, { pastes, next_cursor: null }),
      'GET /v1/pastes/b/timeline': json(200, {
        transitions: [
          { machine: 'm', from: 'A', to: 'B', at: 'now', actor: 'api', reason: '\u001b', reason_class: null },
        ],
        executions: [],
      }),
    });
    const { stdout } = await bed.run(['ls'], { env });
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(
        /^q7Zk2Lm9Xa  IN_PROGRESS  5 B      \d+ days ago  never expires  unlisted  a\\u\{1b\}\]0;x\\u\{7\}$/,
      ),
      expect.stringMatching(/^b           IN_PROGRESS  2.0 KiB  \d+ days ago  never expires  unlisted$/),
      '',
    ]);
    expect((await bed.run(['timeline', 'b'], { env })).stdout).toBe('now  m  A → B  api  \\u{1b}\n');
    const lines = (await bed.run(['ls', '--json'], { env })).stdout.trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { title: unknown }).title)).toEqual([
      'a\u001b]0;x\u0007',
      null,
    ]);
    expect((await bed.run(['ls', '-n', '0'], { env })).code).toBe(2);
  });
});

describe('pasteflow run', () => {
  const made = (name: string) => ({ ...asset(`${bed.url}/file`, 5), asset_type: 'feed', name });
  const serve = (fields: object, ...assets: readonly object[]): void =>
    routes({
      'POST /v1/jobs': queued,
      [`GET /v1/jobs/${ID}`]: json(200, jobWith({ job_type: 'fetch', ...fields })),
      [`GET /v1/jobs/${ID}/assets`]: json(200, { assets, next_cursor: null }),
      'GET /file': (_request, res) => void res.writeHead(200, { 'content-length': '5' }).end('<rss>'),
    });

  it('runs a job of any type, prints its result, and saves its files by their names', async () => {
    serve({ result: { saved: ['news'] } }, made('news.xml'));
    const folder = join(bed.home, 'new/feeds');
    const ended = await bed.run(['run', 'fetch', '{"feeds":["news"]}', '-o', folder], { env });
    const file = join(folder, 'news.xml');
    expect(ended).toEqual({ code: 0, stdout: `{"saved":["news"]}\n${file}\n`, stderr: '' });
    expect(await readFile(file, 'utf8')).toBe('<rss>');
    const [sent] = bed.requests.filter(({ path }) => path === '/v1/jobs');
    expect(JSON.parse(sent!.body.toString())).toEqual({
      job_type: 'fetch',
      parameters: { feeds: ['news'] },
    });
  });

  it('reads parameters from stdin, and ends with 1 and the reason when a part has failed', async () => {
    serve({ status: 'partial', result: {}, error_message: '1 of 2 feeds were refused' });
    const ended = await bed.run(['run', 'fetch', '-'], { env, stdin: '{"feeds":["a"]}' });
    expect(ended).toEqual({ code: 1, stdout: '{}\n', stderr: 'pasteflow: 1 of 2 feeds were refused\n' });
  });

  it('refuses what is no object before it sends anything', async () => {
    for (const parameters of ['feeds', '"feeds"', 'null', '["feeds"]']) {
      const { code, stderr } = await bed.run(['run', 'fetch', parameters], { env });
      expect([code, stderr]).toEqual([2, expect.stringContaining('no object of JSON')]);
    }
    expect(bed.requests).toEqual([]);
  });

  it('writes no file outside of the folder, whatever the server names', async () => {
    serve({}, made('../news.xml'));
    const { code, stderr } = await bed.run(['run', 'fetch', '-o', join(bed.home, 'feeds')], { env });
    expect([code, stderr]).toEqual([1, expect.stringContaining('The server names a file "../news.xml"')]);
    expect(await readdir(bed.home)).toEqual(['feeds']);
  });

  it('replaces a file of the same name, and what a link there names stays as it is', async () => {
    serve({}, made('news.xml'));
    const [folder, elsewhere] = [join(bed.home, 'feeds'), join(bed.home, 'elsewhere')];
    await mkdir(folder);
    await writeFile(elsewhere, 'mine');
    await symlink(elsewhere, join(folder, 'news.xml'));
    for (let times = 0; times < 2; times++)
      expect((await bed.run(['run', 'fetch', '-o', folder], { env })).code).toBe(0);
    expect([await readFile(join(folder, 'news.xml'), 'utf8'), await readFile(elsewhere, 'utf8')]).toEqual([
      '<rss>',
      'mine',
    ]);
  });
});
