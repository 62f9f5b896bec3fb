import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { json, pasteWith, problem, reset, useBed, type Handler } from './support/bed.ts';
import { asset, env, ID, jobWith, queued } from './support/jobs.ts';

const bed = useBed();

const CODE = 'q7Zk2Lm9Xa';
const gone: Handler = (_request, res) => void res.writeHead(204).end();
const text: Handler = (_request, res) =>
  void res.writeHead(200, { 'content-length': '4', etag: '"0f"' }).end('text');
const events: Handler = (_request, res) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.end(`event: end\nid: 1\ndata: ${JSON.stringify({ status: 'PROCESSED' })}\n\n`);
};
const timeline = json(200, { transitions: [], executions: [] });

/** A server that works. */
const WORKING: Readonly<Record<string, Handler>> = {
  'POST /v1/pastes': json(201, pasteWith({ status: 'PROCESSED' })),
  'GET /v1/pastes': json(200, { pastes: [], next_cursor: null }),
  [`GET /v1/pastes/${CODE}`]: json(200, pasteWith({ status: 'PROCESSED' })),
  [`GET /v1/pastes/${CODE}/content`]: text,
  [`GET /v1/pastes/${CODE}/timeline`]: timeline,
  [`GET /v1/pastes/${CODE}/events`]: events,
  [`DELETE /v1/pastes/${CODE}`]: gone,
  'POST /v1/jobs': queued,
  'GET /v1/jobs': json(200, { jobs: [], next_cursor: null }),
  [`GET /v1/jobs/${ID}`]: json(200, jobWith({ job_type: 'export', parameters: { format: 'zip' } })),
  [`GET /v1/jobs/${ID}/timeline`]: timeline,
  [`GET /v1/jobs/${ID}/assets`]: (request, res) =>
    json(200, { assets: [asset(`${bed.url}/archive`, 4)], next_cursor: null })(request, res),
  [`POST /v1/jobs/${ID}/cancel`]: json(200, jobWith({ status: 'failed' })),
  'GET /archive': text,
};

/** Every route fails once in this way, and then works. */
function failOnce(failure: Handler): void {
  const seen = new Set<string>();
  bed.script(async (request, res) => {
    const key = `${request.method} ${request.path.split('?')[0]}`;
    const works = WORKING[key] ?? problem(404, 'route_not_found', `no ${key}`);
    if (seen.has(key)) return works(request, res);
    seen.add(key);
    return failure(request, res);
  });
}

/** Half of an answer that promises more, and then the end of the connection. */
const half: Handler = (_request, res) => {
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  res.write('{"short_', () => setTimeout(() => res.socket?.destroy(), 20));
};

const soon = { 'retry-after': '0' };
const FAILURES: readonly (readonly [string, Handler])[] = [
  ['is overloaded: 503 with Retry-After', problem(503, 'overloaded', 'Full.', soon)],
  ['counts too many requests: 429 with Retry-After', problem(429, 'rate_limited', 'Too many.', soon)],
  [
    'is behind a proxy that answers 502 in HTML',
    (_request, res) => void res.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>'),
  ],
  ['resets the connection', reset],
  ['is cut off in the middle of its answer', half],
];

const COMMANDS: readonly (readonly string[])[] = [
  ['put'],
  ['cat', CODE],
  ['ls'],
  ['rm', CODE],
  ['timeline', CODE],
  ['timeline', ID],
  ['watch', CODE],
  ['cancel', ID],
  ['import', '-'],
  ['export', '-o', 'ARCHIVE'],
];

describe.each(FAILURES)('when the server %s', (_name, failure) => {
  // An answer to `cat` that is cut in the middle is content already, and continues at a byte: cat.test.ts.
  const commands = COMMANDS.filter(([command]) => failure !== half || command !== 'cat');

  it.each(commands)('pasteflow %s tries again and succeeds', async (...args) => {
    failOnce(failure);
    const given = args.map((arg) => (arg === 'ARCHIVE' ? join(bed.home, 'archive') : arg));
    const { code, stderr } = await bed.run(given, { stdin: 'text', env });
    expect([code, stderr]).toEqual([0, '']);
  });
});

describe('when the server stays broken', () => {
  // The tries take seconds, which the three commands wait for at the same time.
  it('pasteflow tries for a bounded number of times, waits for as long as the server asks for, and says what is wrong', async () => {
    const limited = new Set<string>();
    bed.script(async (request, res) => {
      if (request.method === 'POST') return problem(503, 'overloaded', 'Full.', soon)(request, res);
      if (limited.has(request.method)) return WORKING['GET /v1/pastes']!(request, res);
      limited.add(request.method);
      return problem(429, 'rate_limited', 'Too many.', { 'retry-after': '2' })(request, res);
    });
    const before = performance.now();
    const [overloaded, absent, unknown, waited] = await Promise.all([
      bed.run(['cancel', ID], { env }),
      bed.run(['timeline', CODE], { env: { PASTEFLOW_SERVER: 'http://127.0.0.1:2' } }),
      bed.run(['whoami'], { env: { ...env, PASTEFLOW_SERVER: 'http://127.0.0.1:2' } }),
      bed.run(['ls'], { env }).then((ended) => ({ ...ended, ms: performance.now() - before })),
    ]);
    const waits = `${bed.url} answers 503. Trying again …\n`;
    expect(overloaded).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(waits) });
    expect(overloaded.stderr.replaceAll(waits, '')).toBe('pasteflow: Full.\n');
    expect(overloaded.stderr.split(waits).length).toBeLessThan(5); // a note for each ten seconds, not for each try
    expect(bed.requests.filter(({ method }) => method === 'POST')).toHaveLength(8);
    // How many notes come depends on the random waits between the tries.
    for (const { code, stderr } of [absent, unknown]) {
      const notes = 'http://127.0.0.1:2 gives no answer. Trying again …\n';
      expect(code).toBe(1);
      expect([2, 3, 4]).toContain(stderr.split(notes).length);
      expect(stderr.replaceAll(notes, '')).toMatch(
        /^pasteflow: The connection to the server failed: connect ECONNREFUSED 127\.0\.0\.1:2\. Check the network/,
      );
    }
    expect(waited).toMatchObject({ code: 0, stderr: '' });
    expect(waited.ms).toBeGreaterThanOrEqual(1990);
  });

  it.each([
    [500, 'internal', 'The server failed.'],
    [507, 'internal', 'The disk of the server is full.'],
  ])('pasteflow does not repeat a request that was answered %d', async (status, kind, detail) => {
    bed.script(problem(status, kind, detail, { 'x-request-id': 'abc123' }));
    const { code, stderr } = await bed.run(['put'], { stdin: 'text' });
    expect([code, stderr]).toEqual([1, `pasteflow: stdin: ${detail} (request abc123)\n`]);
    expect(bed.requests).toHaveLength(1);
  });
});

describe('a creation whose answer was cut in the middle', () => {
  it('is sent again with the same key, and makes one paste', async () => {
    failOnce(half);
    expect((await bed.run(['put'], { stdin: 'text' })).code).toBe(0);
    const keys = bed.requests.map(({ headers }) => headers['idempotency-key']);
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
  });
});

describe('a download that is cut off in the middle', () => {
  it('of pasteflow export goes on at the same byte', async () => {
    bed.script(async (request, res) => {
      const key = `${request.method} ${request.path.split('?')[0]}`;
      if (key !== 'GET /archive') return WORKING[key]!(request, res);
      if (request.headers.range === 'bytes=2-')
        return void res
          .writeHead(206, { 'content-range': 'bytes 2-3/4', 'content-length': '2', etag: '"0f"' })
          .end('xt');
      res.writeHead(200, { 'content-length': '4', etag: '"0f"' });
      res.write('te', () => setTimeout(() => res.socket?.destroy(), 20));
    });
    const path = join(bed.home, 'archive');
    expect((await bed.run(['export', '-o', path], { env })).code).toBe(0);
    expect(await readFile(path, 'utf8')).toBe('text');
  });
});
