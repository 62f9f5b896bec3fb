import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { PasteflowConnectionError } from '../src/index.ts';
import { answer, problem, reset, silence, type Handler } from './support/scripted-server.ts';
import { useServer } from './support/server.ts';

const bed = useServer();

const CODE = 'q7Zk2Lm9Xa';
const ETAG = `"${'a'.repeat(64)}"`;
const CONTENT = Buffer.from('0123456789abcdefghij');
const inProgress = answer(503, '', { 'retry-after': '0', 'x-request-id': 'request-1' });

/**
 * Serves the content and supports Range: sends `count` bytes from the requested one on, then breaks the
 * connection.
 */
function serve(count = Infinity): Handler {
  return (req, res) => {
    const from = Number(/^bytes=(\d+)-$/.exec(req.headers.range ?? 'bytes=0-')?.[1]);
    const part = CONTENT.subarray(from);
    const range = { 'content-range': `bytes ${from}-${CONTENT.length - 1}/${CONTENT.length}` };
    const headers = { 'content-length': part.length, etag: ETAG };
    res.writeHead(from === 0 ? 200 : 206, { ...headers, ...(from > 0 && range) });
    if (count >= part.length) res.end(part);
    else res.write(part.subarray(0, count), () => setImmediate(() => res.socket?.resetAndDestroy()));
  };
}

describe('the content of a paste', () => {
  it('is available as bytes, with its size and its ETag', async () => {
    bed.server.script(serve());
    const content = await bed.client().pastes.content(CODE);
    expect({ size: content.size, etag: content.etag }).toEqual({ size: 20, etag: ETAG });
    expect(CONTENT.equals(await content.bytes())).toBe(true);
    expect(bed.server.requests[0]!.path).toBe(`/v1/pastes/${CODE}/content`);
  });

  it('of a file is read by its name, and resumed within the file', async () => {
    bed.server.script(serve(6), serve());
    const file = await bed.client().pastes.file(CODE, 'src/ä b.ts');
    expect(CONTENT.equals(await file.bytes())).toBe(true);
    const path = `/v1/pastes/${CODE}/files/src%2F%C3%A4%20b.ts`;
    expect(bed.server.requests.map((request) => [request.path, request.headers.range])).toEqual([
      [path, undefined],
      [path, 'bytes=6-'],
    ]);
  });

  it('of an archive, which has no ranges, is requested again as a whole', async () => {
    bed.server.script(serve(6), serve());
    const archive = await bed.client().pastes.archive(CODE);
    expect(CONTENT.equals(await archive.bytes())).toBe(true);
    expect(bed.server.requests.map((request) => [request.path, request.headers.range])).toEqual([
      [`/v1/pastes/${CODE}/archive`, undefined],
      [`/v1/pastes/${CODE}/archive`, undefined],
    ]);
  });

  it('is requested as it is, because sizes and positions are those of the content', async () => {
    bed.server.script(serve(6), serve());
    await (await bed.client().pastes.content(CODE)).bytes();
    expect(bed.server.requests.map(({ headers }) => headers['accept-encoding'])).toEqual([
      'identity',
      'identity',
    ]);
  });

  it('may arrive compressed all the same, as in a browser, which ignores that wish', async () => {
    const compressed = gzipSync(CONTENT);
    bed.server.script((_req, res) => {
      res.writeHead(200, { 'content-encoding': 'gzip', 'content-length': compressed.length, etag: ETAG });
      res.end(compressed);
    });
    const content = await bed.client().pastes.content(CODE);
    expect(content.size).toBeNaN();
    expect(CONTENT.equals(await content.bytes())).toBe(true);
  });

  it('is available as text, a byte order mark included', async () => {
    const text = '\ufeffzéro € 🦊\0';
    bed.server.script(answer(200, text, { etag: ETAG }));
    expect(await (await bed.client().pastes.content(CODE)).text()).toBe(text);
  });

  it('is available as a stream, which starts before the end is sent', async () => {
    const { promise: seen, resolve: see } = Promise.withResolvers<void>();
    bed.server.script((_req, res) => {
      res.writeHead(200, { 'content-length': 2, etag: ETAG }).write('a');
      void seen.then(() => res.end('b'));
    });
    const chunks: string[] = [];
    for await (const chunk of (await bed.client().pastes.content(CODE)).stream) {
      chunks.push(Buffer.from(chunk).toString());
      see();
    }
    expect(chunks).toEqual(['a', 'b']);
  });

  it('is waited for while the upload is in progress, whatever the maximum number of tries', async () => {
    bed.server.script(inProgress, inProgress, inProgress, serve());
    const content = await bed.client({ retry: { maxTries: 2, firstDelayMs: 1 } }).pastes.content(CODE);
    expect(CONTENT.equals(await content.bytes())).toBe(true);
  });

  it('is not taken for an upload in progress when a proxy answers 503 without a body', async () => {
    bed.server.script(answer(503), serve());
    const content = await bed.client({ retry: { maxTries: 2, firstDelayMs: 1 } }).pastes.content(CODE);
    expect(CONTENT.equals(await content.bytes())).toBe(true);
    bed.server.script(answer(503));
    await expect(bed.client({ retry: false }).pastes.content(CODE)).rejects.toMatchObject({ code: null });
  });

  it('is not waited for beyond timeoutMs', async () => {
    bed.server.script(inProgress);
    await expect(bed.client().pastes.content(CODE, { timeoutMs: 1000 })).rejects.toMatchObject({
      name: 'PasteflowTimeoutError',
      message: `paste ${CODE} is IN_PROGRESS after 1000 ms`,
    });
  });

  it.each([
    [404, 'paste_not_found'],
    [410, 'paste_gone'],
  ])('that does not exist is an error of status %s and code %s', async (status, code) => {
    bed.server.script(problem(status, code));
    await expect(bed.client().pastes.content(CODE)).rejects.toMatchObject({ status, code });
  });
});

describe('a download that breaks off', () => {
  it('continues at the same byte each time, with the same ETag', async () => {
    bed.server.script(serve(6), reset, serve(6), serve());
    const content = await bed.client().pastes.content(CODE);
    expect(Buffer.from(await content.bytes()).toString()).toBe(CONTENT.toString());
    expect(bed.server.requests.map(({ headers }) => [headers.range, headers['if-match']])).toEqual([
      [undefined, undefined],
      ['bytes=6-', ETAG],
      ['bytes=6-', ETAG],
      ['bytes=12-', ETAG],
    ]);
  });

  it('skips what has arrived when the response has the whole content', async () => {
    bed.server.script(serve(6), answer(200, CONTENT.toString(), { etag: ETAG }));
    const content = await bed.client().pastes.content(CODE);
    expect(Buffer.from(await content.bytes()).toString()).toBe(CONTENT.toString());
  });

  it('is an error when the resumed response is neither the rest nor the whole', async () => {
    bed.server.script(serve(6), answer(200, `${CONTENT.toString()}!`, { etag: ETAG }));
    const content = await bed.client().pastes.content(CODE);
    await expect(content.bytes()).rejects.toThrow(/requested the bytes from 6 on/);
  });

  it('of a paste that is deleted when it is read is repeated with the same key', async () => {
    bed.server.script(reset, problem(503, 'dependency_unavailable'), serve(6), reset, serve(9), serve());
    const content = await bed.client().pastes.reveal(CODE);
    expect(Buffer.from(await content.bytes()).toString()).toBe(CONTENT.toString());
    const keys = bed.server.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(6);
    expect([new Set(keys).size, keys[0]]).toEqual([1, expect.stringMatching(/^[0-9a-f]{32}$/)]);
  });

  it('is an error when the paste has been deleted in the meantime', async () => {
    bed.server.script(serve(6), problem(410, 'paste_gone'));
    const content = await bed.client().pastes.content(CODE);
    await expect(content.bytes()).rejects.toMatchObject({ code: 'paste_gone' });
  });

  it('ends with an error when resuming repeatedly brings nothing', async () => {
    bed.server.script(serve(6), serve(0));
    const content = await bed.client({ retry: { maxTries: 3, firstDelayMs: 1 } }).pastes.content(CODE);
    await expect(content.bytes()).rejects.toThrow(/broke off after 6 bytes/);
    expect(bed.server.requests).toHaveLength(3);
  });

  it('is an error at once with retry: false', async () => {
    bed.server.script(serve(6));
    const content = await bed.client({ retry: false }).pastes.content(CODE);
    await expect(content.bytes()).rejects.toBeInstanceOf(PasteflowConnectionError);
    expect(bed.server.requests).toHaveLength(1);
  });

  it('ends with the reason of an AbortSignal', async () => {
    const controller = new AbortController();
    bed.server.script((_req, res) => void res.writeHead(200, { 'content-length': 2, etag: ETAG }).write('a'));
    const content = await bed.client().pastes.content(CODE, { signal: controller.signal });
    const reading = content.bytes();
    const reason = new Error('the user has left');
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
    expect(bed.server.requests).toHaveLength(1);
  });

  it('leaves no request open when its reader cancels', async () => {
    const { promise: closed, resolve: close } = Promise.withResolvers<void>();
    bed.server.script((req, res) => {
      req.socket.once('close', () => close());
      res.writeHead(200, { 'content-length': 2, etag: ETAG }).write('a');
    });
    const { stream } = await bed.client().pastes.content(CODE);
    for await (const _chunk of stream) break;
    await closed;
  });
});

it('disconnects from a silent server when its AbortSignal fires', async () => {
  bed.server.script(silence);
  const signal = AbortSignal.timeout(50);
  const error: unknown = await bed
    .client()
    .pastes.content(CODE, { signal })
    .catch((each: unknown) => each);
  expect(error).toBe(signal.reason);
});
