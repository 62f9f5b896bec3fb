import { describe, expect, it } from '@jest/globals';
import { PasteflowApiError, PasteflowConnectionError } from '../src/index.ts';
import { pasteWith } from './support/paste.ts';
import { answer, json, problem, reset, silence, type Handler } from './support/scripted-server.ts';
import { useServer } from './support/server.ts';

const bed = useServer();
const created = json(201, pasteWith({}));
const keys = (): unknown[] => bed.server.requests.map(({ headers }) => headers['idempotency-key']);

describe('a creation', () => {
  it.each<[string, Handler]>([
    ['the connection is reset', reset],
    ['408', problem(408, 'request_timeout')],
    ['429', problem(429, 'rate_limited', { 'retry-after': '0' })],
    ['502 from a proxy', answer(502, '<h1>Bad gateway</h1>', { 'content-type': 'text/html' })],
    ['503', problem(503, 'dependency_unavailable', { 'retry-after': '0' })],
    ['504', answer(504)],
    [
      '409, its first request being under way still',
      problem(409, 'idempotency_key_in_use', { 'retry-after': '0' }),
    ],
    ['an answer that breaks off', breaksOff],
    ['200 with something that is no JSON', answer(200, '<h1>Log in</h1>')],
  ])('is retried after %s, with the same body and the same Idempotency-Key', async (_, fault) => {
    bed.server.script(fault, fault, created);
    expect(await bed.client().pastes.create('hello')).toMatchObject({ short_code: 'q7Zk2Lm9Xa' });
    expect(keys()).toEqual(Array(3).fill(expect.stringMatching(/^[0-9a-f]{32}$/)));
    expect(new Set(keys()).size).toBe(1);
    expect(bed.server.requests.map(({ headers }) => headers['content-length'])).toEqual(['5', '5', '5']);
  });

  it('has a new Idempotency-Key each time, or the given one', async () => {
    bed.server.script(created);
    await bed.client().pastes.create('hello');
    await bed.client().pastes.create('hello');
    await bed.client().pastes.create('hello', { idempotencyKey: 'my own' });
    expect(new Set(keys()).size).toBe(3);
    expect(keys()[2]).toBe('my own');
  });

  it.each([
    [400, 'malformed_request'],
    [401, 'unauthorized'],
    [403, 'job_forbidden'],
    [404, 'paste_not_found'],
    [409, 'invalid_transition'],
    [410, 'paste_gone'],
    [413, 'content_too_large'],
    [422, 'idempotency_key_reused'],
    [500, 'internal'],
  ])('is not retried after %s %s', async (status, code) => {
    bed.server.script(problem(status, code));
    await expect(bed.client().pastes.create('hello')).rejects.toMatchObject({ status, code });
    expect(bed.server.requests).toHaveLength(1);
  });
});

describe('a request that always fails', () => {
  it('ends with the last error after the maximum number of tries', async () => {
    bed.server.script(problem(502, 'internal'), problem(503, 'dependency_unavailable'));
    const failing = bed.client({ retry: { maxTries: 4, firstDelayMs: 1 } }).pastes.get('q7Zk2Lm9Xa');
    await expect(failing).rejects.toMatchObject({ code: 'dependency_unavailable' });
    expect(bed.server.requests).toHaveLength(4);
  });

  it('is tried once with retry: false', async () => {
    bed.server.script(reset);
    await expect(bed.client({ retry: false }).pastes.get('q7Zk2Lm9Xa')).rejects.toBeInstanceOf(
      PasteflowConnectionError,
    );
    expect(bed.server.requests).toHaveLength(1);
  });

  it('ends at once when Retry-After is longer than the remaining time, with that time in the error', async () => {
    bed.server.script(problem(429, 'rate_limited', { 'retry-after': '3600' }));
    const error: unknown = await bed
      .client()
      .pastes.get('q7Zk2Lm9Xa')
      .catch((each: unknown) => each);
    expect(error).toBeInstanceOf(PasteflowApiError);
    expect(error).toMatchObject({ status: 429, code: 'rate_limited', retryAfter: 3600 });
    expect(bed.server.requests).toHaveLength(1);
  });

  it('is aborted and retried when no response arrives in time', async () => {
    bed.server.script(silence, json(200, pasteWith({})));
    const client = bed.client({ retry: { tryTimeoutMs: 50, firstDelayMs: 1 } });
    expect(await client.pastes.get('q7Zk2Lm9Xa')).toMatchObject({ status: 'IN_PROGRESS' });
    expect(bed.server.requests.length).toBeGreaterThan(1); // more than 2 when the machine takes longer than 50 ms for an answer
  });

  it('takes no longer than the total time, whatever the try timeout', async () => {
    bed.server.script(silence);
    const client = bed.client({ retry: { maxTotalMs: 50 } });
    await expect(client.pastes.get('q7Zk2Lm9Xa')).rejects.toThrow(/no answer within 50 ms/);
    expect(bed.server.requests.length).toBeLessThanOrEqual(1); // none when the machine takes 50 ms to connect
  });

  it('has the underlying reason in its message when there is no server', async () => {
    const { url: baseUrl } = bed.server;
    await bed.server.stop();
    const client = bed.client({ baseUrl, retry: { maxTries: 2, firstDelayMs: 1 } });
    const error: unknown = await client.pastes.get('q7Zk2Lm9Xa').catch((each: unknown) => each);
    await bed.server.start();
    expect(String(error)).toMatch(
      /^PasteflowConnectionError: GET http\S+\/v1\/pastes\/q7Zk2Lm9Xa: fetch failed: connect ECONNREFUSED 127/,
    );
    expect((error as Error).cause).toMatchObject({ name: 'TypeError' });
  });
});

it('waits for Retry-After', async () => {
  bed.server.script(problem(503, 'dependency_unavailable', { 'retry-after': '1' }), json(200, pasteWith({})));
  await bed.client().pastes.get('q7Zk2Lm9Xa');
  const [first, second] = bed.server.requests;
  expect(second!.at - first!.at).toBeGreaterThanOrEqual(990); // a timer may fire early by the rounding of its clock
});

describe('an AbortSignal', () => {
  it.each<[string, Handler]>([
    ['while the answer is awaited', silence],
    ['between two tries', problem(503, 'dependency_unavailable', { 'retry-after': '60' })],
  ])('ends a request %s with its own reason, without a retry', async (_, handler) => {
    const controller = new AbortController();
    const reason = new Error('the user has left');
    bed.server.script(async (req, res) => {
      await handler(req, res);
      setImmediate(() => setImmediate(() => controller.abort(reason)));
    });
    const request = bed.client().pastes.create('hello', { signal: controller.signal });
    await expect(request).rejects.toBe(reason);
    expect(bed.server.requests).toHaveLength(1);
  });

  it('that has already fired prevents the request', async () => {
    bed.server.script(created);
    const reason = new Error('too late');
    const signal = AbortSignal.abort(reason);
    await expect(bed.client().pastes.create('hello', { signal })).rejects.toBe(reason);
    expect(bed.server.requests).toEqual([]);
  });
});

describe('a deletion', () => {
  it('succeeds when a retry finds the paste gone: the first response was lost', async () => {
    bed.server.script(reset, problem(410, 'paste_gone'));
    await bed.client().pastes.delete('q7Zk2Lm9Xa', { deleteToken: 'secret' });
    expect(bed.server.requests.map(({ method, headers }) => [method, headers['delete-token']])).toEqual([
      ['DELETE', 'secret'],
      ['DELETE', 'secret'],
    ]);
  });

  it('of a deleted paste is refused', async () => {
    bed.server.script(problem(410, 'paste_gone'));
    await expect(bed.client().pastes.delete('q7Zk2Lm9Xa')).rejects.toMatchObject({ code: 'paste_gone' });
  });
});

function breaksOff(...[, res]: Parameters<Handler>): void {
  res.writeHead(201, { 'content-type': 'application/json', 'content-length': '1000' });
  res.write('{', () => res.socket?.resetAndDestroy());
}
