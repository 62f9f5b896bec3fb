import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FaultProxy } from '@pasteflow/dev-stack/testing';
import { readFileSync } from 'node:fs';
import { problemCodes, statusOf } from '../src/http/answers/problem-codes.ts';
import { type RunningApi, useApi } from './support/api.ts';
import { answerOn, dial, postRaw, problemOf, rawExchange } from './support/http.ts';
import { newPaste, processedPaste } from './support/pastes.ts';
import { until } from './support/until.ts';

const bed = useApi();

describe('an error', () => {
  it('is answered with RFC 9457 problem details', async () => {
    const response = await fetch(`${bed.api.url}/v1/pastes/unknown?x=1`);
    expect(await problemOf(response)).toEqual({
      type: 'urn:pasteflow:problem:paste_not_found',
      title: 'Paste not found',
      status: 404,
      detail: expect.stringContaining('Check the URL'),
      instance: '/v1/pastes/unknown',
      code: 'paste_not_found',
    });
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it.each(['/v1/nothing', '/v1/pastes/x/y', '/a/b', '/V1/pastes'])('is 404 for %s', async (path) => {
    expect(await problemOf(await fetch(bed.api.url + path))).toMatchObject({
      status: 404,
      code: 'route_not_found',
    });
  });

  it.each([
    ['PUT', '/', 'GET, HEAD, POST'],
    ['DELETE', '/v1/pastes', 'GET, HEAD, POST'],
    ['POST', '/v1/pastes/x', 'GET, HEAD, PATCH, DELETE'],
    ['DELETE', '/v1/pastes/x/content', 'GET, HEAD'],
    ['PATCH', '/v1/pastes/x/timeline', 'GET, HEAD'],
    ['OPTIONS', '/x', 'GET, HEAD, POST'],
    ['DELETE', '/healthz', 'GET, HEAD'],
  ])('is 405 for %s %s, with the allowed methods', async (method, path, allowed) => {
    const response = await fetch(bed.api.url + path, { method });
    expect(response.headers.get('allow')).toBe(allowed);
    expect(await problemOf(response)).toMatchObject({ status: 405, code: 'method_not_allowed' });
  });

  it.each(['/%', '/%zz', '/%ff', '/v1/pastes/%E0%A4%A', '/v1/pastes/%/content'])(
    'is 400 for the percent-encoding of %s',
    async (path) => {
      const answer = await rawExchange(
        bed.api.port,
        `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      );
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.body)).toMatchObject({ code: 'malformed_request' });
    },
  );

  it('of the server is a 500 without details, and is logged with its stack', async () => {
    const api = await bed.start({ env: { DATABASE_URL: bed.stack.postgres.url } }); // a database without the tables
    const response = await fetch(`${api.url}/v1/pastes/any`, { headers: { 'x-request-id': 'find-me' } });
    const problem = await problemOf(response);
    expect(problem).toMatchObject({ status: 500, code: 'internal' });
    expect(JSON.stringify(problem)).not.toMatch(/relation|pastes"|at /);
    const line = api.logs.find(({ message }) => message === 'request failed');
    expect(line).toMatchObject({ level: 'error', request_id: 'find-me' });
    expect(JSON.stringify(line)).toMatch(/relation .*pastes.* does not exist/);
  });
});

describe('bytes that are not an HTTP request', () => {
  it.each([
    ['garbage', 'what?\r\n\r\n', 400, 'malformed_request'],
    ['a TLS handshake', Buffer.from('16030100', 'hex'), 400, 'malformed_request'],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'malformed_request'],
    ['no Host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'malformed_request'],
    [
      'two Content-Lengths',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx',
      400,
      'malformed_request',
    ],
    [
      'Content-Length beside chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'malformed_request',
    ],
    [
      'a URL of 20,000 characters',
      `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`,
      431,
      'request_headers_too_large',
    ],
  ])('are answered with problem details: %s', async (_name, bytes, status, code) => {
    const answer = await rawExchange(bed.api.port, bytes);
    expect(answer).toMatchObject({
      status,
      headers: {
        'content-type': 'application/problem+json',
        'content-length': String(Buffer.byteLength(answer.body)),
        'x-request-id': expect.stringMatching(/./),
        connection: 'close',
      },
    });
    expect(JSON.parse(answer.body)).toMatchObject({ status, code });
  });

  it('do not prevent the answer to the valid request before them', async () => {
    const socket = await dial(bed.api.port);
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\ngoodgarbage\r\n\r\n');
    expect(await answerOn(socket)).toMatchObject({ status: 201 });
  });
});

describe('every answer', () => {
  it('has the security headers, and none that reveal Express', async () => {
    for (const path of ['/', '/v1/pastes/x', '/nothing/here', '/healthz']) {
      const { headers } = await fetch(bed.api.url + path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; sandbox/);
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      expect(headers.has('x-powered-by')).toBe(false);
      expect(headers.has('etag')).toBe(false);
    }
  });

  it('has the X-Request-Id of the request, or a new one', async () => {
    const idOf = async (id: string | undefined, path = '/') =>
      (
        await fetch(bed.api.url + path, { headers: id === undefined ? {} : { 'x-request-id': id } })
      ).headers.get('x-request-id');
    expect(await idOf('Trace.1:a-b_c')).toBe('Trace.1:a-b_c');
    expect(await idOf('x'.repeat(128), '/nothing/here')).toBe('x'.repeat(128));
    const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/;
    for (const id of [undefined, '', 'x'.repeat(129), 'a b', 'a"b', '{}'])
      expect(await idOf(id)).toMatch(uuid);
  });

  it('writes one log line, with the pattern of the route and never the query', async () => {
    const headers = { 'x-request-id': 'logged' };
    await fetch(`${bed.api.url}/v1/pastes?title=secret`, { method: 'POST', headers, body: 'xyz' });
    await fetch(`${bed.api.url}/v1/pastes/someCode?token=secret`, { headers });
    const lines = await until(
      () => bed.api.logs.filter(({ request_id }) => request_id === 'logged'),
      ({ length }) => length === 2,
    );
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'info',
        message: 'request',
        service: 'api',
        method: 'POST',
        route: '/v1/pastes',
        status: 201,
        size_bytes: 3,
        short_code: expect.stringMatching(/^\w{10}$/),
        duration_ms: expect.any(Number),
        bytes: expect.any(Number),
      }),
      expect.objectContaining({
        route: '/v1/pastes/:short_code',
        status: 404,
        code: 'paste_not_found',
        short_code: 'someCode',
      }),
    ]);
    expect(JSON.stringify(bed.api.logs)).not.toContain('secret');
  });

  it('is counted by route and status', async () => {
    await fetch(`${bed.api.url}/counted00`);
    const metrics = await until(
      async () => await (await fetch(`${bed.api.metricsUrl}/metrics`)).text(),
      (text) => text.includes('route="/:short_code"'),
    );
    expect(metrics).toMatch(
      /http_request_duration_seconds_count\{.*method="GET",route="\/:short_code",status="404".*\} \d/,
    );
    expect(metrics).not.toContain('counted00');
  });
});

describe('the routes for people and probes', () => {
  it('shows usage as plain text at GET /', async () => {
    const response = await fetch(bed.api.url);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await response.text()).toContain(`curl --data-binary @- ${bed.api.url}\n`);
  });

  it('answers GET /healthz and /readyz on both ports', async () => {
    for (const url of [bed.api.url, bed.api.metricsUrl]) {
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      const ready = await fetch(`${url}/readyz`);
      expect(ready.status).toBe(200);
      expect(await ready.json()).toMatchObject({
        checks: {
          postgres: { state: 'ok', required: true },
          s3: { state: 'ok', required: false },
          sqs: { state: 'ok', required: false },
        },
      });
    }
  });

  it('keeps a connection for the next request, also after an error', async () => {
    const socket = await dial(bed.api.port);
    socket.write('GET /unknown HTTP/1.1\r\nHost: x\r\n\r\n');
    socket.write('POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc');
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const { status, body } = await answerOn(socket);
    expect(status).toBe(404);
    expect(body.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 405', 'HTTP/1.1 200']);
  });

  it('serves HTTP/1.0 clients', async () => {
    const created = await rawExchange(bed.api.port, 'POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\nold');
    expect(created.status).toBe(201);
    const { pathname } = new URL(created.body.trim());
    expect((await rawExchange(bed.api.port, `GET ${pathname} HTTP/1.0\r\n\r\n`)).status).toBe(503);
    expect((await postRaw(bed.api.url, 'new')).status).toBe(201);
  });
});

describe('the figures of problems', () => {
  let proxy: FaultProxy;
  beforeAll(async () => {
    proxy = await FaultProxy.start(bed.stack.aws.endpoint);
  });
  afterAll(() => proxy.stop());

  /** The number of problems by route and code: `{'route code': number}`. */
  async function problems({ metricsUrl }: RunningApi): Promise<Record<string, number>> {
    const text = await (await fetch(`${metricsUrl}/metrics`)).text();
    return Object.fromEntries(
      [...text.matchAll(/^http_problems_total\{([^}]*)\} (\d+)$/gm)].map(([, labels = '', count]) => {
        const of = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(labels)?.[1];
        return [`${of('route')} ${of('code')}`, Number(count)];
      }),
    );
  }

  it('problems are counted by route and code, so that unreadable content is distinguished from uploads in progress', async () => {
    const api = await bed.start({ env: { AWS_ENDPOINT_URL_S3: proxy.url } });
    const stored = await processedPaste(bed, 'stored');
    const underWay = await newPaste(bed.db);
    proxy.rule({ method: 'GET' }, { kind: 'fail', status: 500 });
    const paths = [stored, stored, `v1/pastes/${stored}/content`, underWay, `v1/pastes/${stored}`, 'healthz'];
    const statuses = [];
    for (const path of [...paths, `nothing/${stored}`])
      statuses.push((await fetch(`${api.url}/${path}`)).status);
    expect(statuses).toEqual([503, 503, 503, 503, 200, 200, 404]);
    const expected: Record<string, number> = {
      '/:short_code dependency_unavailable': 2,
      '/v1/pastes/:short_code/content dependency_unavailable': 1,
      '/:short_code paste_in_progress': 1,
      'none route_not_found': 1,
    };
    const counted = await until(
      () => problems(api),
      (figures) => Object.values(figures).reduce((sum, count) => sum + count, 0) >= 5,
    );
    expect(counted).toEqual(expected);
  });

  it('the alert counts every code of a server error, and no other', () => {
    const rules = readFileSync(
      new URL('../../../infra/observability/prometheus/rules/pasteflow.yml', import.meta.url),
      'utf8',
    );
    const [, codes = ''] = /http_problems_total\{code=~"([^"]*)"\}/.exec(rules) ?? [];
    // An upload in progress is no error, and full storage has an alert of its own.
    const apart = ['paste_in_progress', 'storage_full'];
    const ours = problemCodes.filter((code) => statusOf(code) >= 500 && !apart.includes(code));
    expect(codes.split('|').toSorted()).toEqual(ours.toSorted());
  });
});
