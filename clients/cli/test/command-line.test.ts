import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { buildProgram } from '../src/program.ts';
import { json, pasteWith, problem, useBed, type Handler } from './support/bed.ts';
import { asset, env, ID, jobWith, queued, route } from './support/jobs.ts';

const bed = useBed();

describe('pasteflow', () => {
  it('prints its version and its help on stdout, and ends with 0', async () => {
    const manifest = await readFile(new URL('../package.json', import.meta.url), 'utf8');
    const { version } = JSON.parse(manifest) as { version: string };
    expect(await bed.run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    for (const args of [['--help'], ['help', 'put'], ['put', '--help']]) {
      const { code, stdout, stderr } = await bed.run(args);
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toContain('Usage: pasteflow');
    }
  });

  it('says how it is used on stderr without a command, and ends with 2', async () => {
    const { code, stdout, stderr } = await bed.run([]);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('Usage: pasteflow')]);
  });

  it.each([
    [['cat', '-o', 'x', 'a', 'b'], '--output is for one paste'],
    [['cat', ID], 'is the id of a job'],
    [['cat', '\u001b[2J'], '\\u001b[2J'],
    [['diff', ID], 'is the id of a job'],
    [['diff', 'a', 'b'], 'too many arguments'],
    [['watch'], 'missing required argument'],
    [['watch', '???'], 'is neither a short code'],
    [['watch', 'https://elsewhere.test/x'], 'another server'],
    [['timeline', '???'], 'is neither a short code'],
    [['cancel', 'q7Zk2Lm9Xa'], 'names a paste'],
    [['import'], 'missing required argument'],
    [['import', 'x', '--expires', 'soon'], 'is not a time'],
    [['import', 'x'], 'pasteflow login'],
    [['export'], 'pasteflow login'],
    [['export', '--format', 'rar'], '--format takes one of'],
    [['ls', 'more'], 'too many arguments'],
    [['put', '--expires', '5y', '-'], 'is not a time'],
    [['put', '--title'], 'argument missing'],
    [['put', '--secret', '--supersedes', 'q7Zk2Lm9Xa'], 'Leave out --secret or --supersedes'],
    [['put', '--secret', '--expires', 'soon'], 'is not a time'],
    [['--token-file', 'no-such-file', 'ls'], 'no-such-file'],
  ])('ends with 2 for %j, and sends nothing', async (args, message) => {
    const { code, stdout, stderr } = await bed.run(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('\u001b');
    expect(bed.requests).toEqual([]);
  });

  it('ends with 2 when its configuration is a folder', async () => {
    const path = join(bed.home, '.config/pasteflow/config.json');
    await mkdir(path, { recursive: true });
    const { code, stderr } = await bed.run(['ls']);
    expect([code, stderr]).toEqual([2, expect.stringContaining(path)]);
  });

  it('has every command and every option in docs/cli.md', async () => {
    const documentation = await readFile(new URL('../../../docs/cli.md', import.meta.url), 'utf8');
    const program = buildProgram({ stdout: process.stdout, stderr: process.stderr } as never, async () => {});
    const behind = program.commands.flatMap(({ commands }) => commands);
    const names = [...program.commands, ...behind].flatMap((command) => [
      command.name(),
      ...command.options.map(({ short, long }) => short ?? long ?? ''),
    ]);
    const missing = [...names, ...program.options.map(({ long }) => long ?? '')].filter(
      (name) => !documentation.includes(name) && name !== '--version',
    );
    expect(missing.filter((name) => !['-V', '-w'].includes(name))).toEqual([]);
  });
});

describe('a terminal', () => {
  const stored = pasteWith({ status: 'PROCESSED' });
  const gone: Handler = (_request, res) => void res.writeHead(204).end();
  let polls: number;
  const running: Handler = (request, res) => {
    polls += 1;
    const job =
      polls < 2
        ? jobWith({ status: 'processing', progress: 50, progress_message: 'half\u001b[2J done' })
        : jobWith({ job_type: 'export', parameters: { format: 'zip' } });
    return json(200, job)(request, res);
  };
  const text: Handler = (_request, res) =>
    void res.writeHead(200, { 'content-length': '4', etag: '"0f"' }).end('text');
  const serve = (): void => {
    polls = 0;
    route(bed, {
      'POST /v1/pastes': json(201, stored),
      'GET /v1/pastes/q7Zk2Lm9Xa': json(200, stored),
      'GET /v1/pastes/q7Zk2Lm9Xa/content': text,
      'DELETE /v1/pastes/q7Zk2Lm9Xa': gone,
      'POST /v1/jobs': queued,
      [`GET /v1/jobs/${ID}`]: running,
      [`GET /v1/jobs/${ID}/assets`]: (request, res) =>
        json(200, { assets: [asset(`${bed.url}/archive`, 4)], next_cursor: null })(request, res),
      'GET /archive': text,
    });
  };

  it.each([
    ['cat', ['cat', '-o', 'FILE', 'q7Zk2Lm9Xa'], '4 B of 4 B'],
    ['import', ['import', 'FILE'], 'half\\u{1b}[2J done'],
    ['export', ['export', '-o', 'FILE'], 'half\\u{1b}[2J done'],
  ])('shows the progress of %s, which nothing else does', async (_name, args, shown) => {
    const file = join(bed.home, 'file');
    await writeFile(file, 'text');
    const given = args.map((arg) => (arg === 'FILE' ? file : arg));
    serve();
    const { code, stderr } = await bed.run(given, { env, tty: ['stderr'] });
    expect([code, stderr]).toEqual([0, expect.stringContaining(shown)]);
    expect(stderr).not.toContain('\u001b[2J');
    for (const options of [{}, { tty: ['stderr'] as const, more: { TERM: 'dumb' } }]) {
      serve();
      const { more = {}, ...rest } = options as { more?: Record<string, string> };
      expect((await bed.run(given, { env: { ...env, ...more }, ...rest })).stderr).toBe('');
    }
  });

  it('that is dumb gets no colours', async () => {
    bed.script(problem(422, 'validation_failed', 'Wrong.'));
    const options = { stdin: 'x', tty: ['stderr'] as const, env: { TERM: 'dumb' } };
    expect((await bed.run(['put'], options)).stderr).toBe('pasteflow: stdin: Wrong.\n');
  });
});

describe('--json', () => {
  it.each([
    [['put'], { file: '-', short_code: 'q7Zk2Lm9Xa' }],
    [['watch', 'q7Zk2Lm9Xa'], { type: 'end', status: 'PROCESSED' }],
    [['timeline', 'q7Zk2Lm9Xa'], { transitions: [], executions: [] }],
    [['timeline', ID], { transitions: [], executions: [] }],
    [['cancel', ID], { id: ID, status: 'failed' }],
    [['retry', ID], { job_id: ID }],
    [['export', '-o', 'FILE'], { id: ID, status: 'completed' }],
    [['import', '-'], { id: ID, status: 'completed' }],
  ])('prints each result of %j as one line of JSON', async (args, expected) => {
    const events: Handler = (_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.end(`event: end\nid: 1\ndata: {"status":"PROCESSED"}\n\n`);
    };
    const timeline = json(200, { transitions: [], executions: [] });
    route(bed, {
      'POST /v1/pastes': json(201, pasteWith({ status: 'PROCESSED' })),
      'GET /v1/pastes/q7Zk2Lm9Xa': json(200, pasteWith({ status: 'PROCESSED' })),
      'DELETE /v1/pastes/q7Zk2Lm9Xa': (_request, res) => void res.writeHead(204).end(),
      'GET /v1/pastes/q7Zk2Lm9Xa/events': events,
      'GET /v1/pastes/q7Zk2Lm9Xa/timeline': timeline,
      [`GET /v1/jobs/${ID}/timeline`]: timeline,
      [`POST /v1/jobs/${ID}/cancel`]: json(200, jobWith({ status: 'failed' })),
      [`POST /v1/jobs/${ID}/retry`]: json(202, { job_id: ID, status: 'queued' }),
      'POST /v1/jobs': queued,
      [`GET /v1/jobs/${ID}`]: json(200, jobWith({ job_type: 'export', parameters: { format: 'zip' } })),
      [`GET /v1/jobs/${ID}/assets`]: (request, res) =>
        json(200, { assets: [asset(`${bed.url}/archive`, 4)], next_cursor: null })(request, res),
      'GET /archive': (_request, res) =>
        void res.writeHead(200, { 'content-length': '4', etag: '"0f"' }).end('text'),
    });
    const given = args.map((arg) => (arg === 'FILE' ? join(bed.home, 'archive') : arg));
    const { code, stdout } = await bed.run(['--json', ...given], { env, stdin: 'text' });
    expect([code, stdout.match(/\n/g)?.length, stdout.endsWith('\n')]).toEqual([0, 1, true]);
    expect(JSON.parse(stdout)).toMatchObject(expected);
  });
});
