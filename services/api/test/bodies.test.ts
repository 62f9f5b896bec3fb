import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { readPayload } from '@pasteflow/postgres';
import { useApi } from './support/api.ts';
import { answerOn, dial, parseAnswer, postJson, postRaw, problemOf } from './support/http.ts';
import { countPastes, pasteRow, sha256 } from './support/pastes.ts';
import { until } from './support/until.ts';

const MAX = 10_485_760;
const bed = useApi();

/** A body without Content-Length, in chunks of 64 KiB. */
function chunked(bytes: number): { body: ReadableStream; duplex: 'half' } {
  let sent = 0;
  const body = new ReadableStream({
    pull: async (controller) => {
      await nextTurn(); // an endless body must not block the event loop
      const size = Math.min(65_536, bytes - sent);
      if (size === 0) return controller.close();
      sent += size;
      controller.enqueue(new Uint8Array(size).fill(120));
    },
  });
  return { body, duplex: 'half' };
}

describe('the size of a body', () => {
  it('accepts 10 MiB, with a Content-Length, in chunks, or in a form', async () => {
    const content = Buffer.alloc(MAX, 'x');
    const form = new FormData();
    form.append('content', new Blob([content]), 'large');
    for (const init of [{ body: content }, chunked(MAX), { body: form }]) {
      const response = await fetch(`${bed.api.url}/v1/pastes`, { method: 'POST', ...init });
      const paste = (await response.json()) as { short_code: string; content_hash: string };
      expect(response.status).toBe(201);
      expect(paste.content_hash).toBe(`sha256:${sha256(content).toString('hex')}`);
      expect(await pasteRow(bed.db, paste.short_code)).toMatchObject({ size_bytes: MAX });
    }
  });

  it('changes no byte of it: with a Content-Length, in chunks, in a form, and in JSON', async () => {
    const text = randomBytes(1_500_000).toString('base64');
    const form = new FormData();
    form.append('content', new Blob([text]), 'large');
    for (const init of [
      { body: text },
      { body: new Blob([text]).stream(), duplex: 'half' as const },
      { body: form },
      { body: JSON.stringify({ content: text }), headers: { 'content-type': 'application/json' } },
    ]) {
      const response = await fetch(`${bed.api.url}/v1/pastes`, { method: 'POST', ...init });
      const { short_code } = (await response.json()) as { short_code: string };
      const payload = await readPayload(bed.db, (await pasteRow(bed.db, short_code))!.id);
      expect(payload?.equals(Buffer.from(text))).toBe(true);
    }
  });

  it('accepts JSON of twice the content and 64 KiB, and refuses one byte more', async () => {
    const maxJson = MAX * 2 + 65_536;
    const escaped = '\\n'.repeat(MAX);
    const empty = JSON.stringify({ content: '' }).length;
    const padded = (bytes: number) => `{"content":"${escaped}"}${' '.repeat(bytes - empty - escaped.length)}`;
    const response = await postJson(bed.api.url, padded(maxJson));
    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({ size_bytes: MAX });
    const refused = await problemOf(await postJson(bed.api.url, padded(maxJson + 1)));
    expect(refused).toMatchObject({ status: 413, code: 'content_too_large' });
    expect(refused.detail).toContain(String(maxJson));
  });

  it('refuses one byte more, in each form, and inserts no row', async () => {
    const before = await countPastes(bed.db);
    const form = new FormData();
    form.append('content', new Blob([Buffer.alloc(MAX + 1)]), 'large');
    const hugeForm = new FormData();
    hugeForm.append('content', new Blob([Buffer.alloc(MAX * 2)]), 'huge');
    const post = (init: RequestInit) => fetch(`${bed.api.url}/v1/pastes`, { method: 'POST', ...init });
    const refused: [string, () => Promise<Response>][] = [
      ['with a Content-Length', () => postRaw(bed.api.url, Buffer.alloc(MAX + 1))],
      ['in chunks', () => post(chunked(MAX + 1))],
      ['in endless chunks', () => post(chunked(Infinity))],
      ['in JSON', () => postJson(bed.api.url, { content: 'x'.repeat(MAX + 1) })],
      ['in JSON that counts in bytes', () => postJson(bed.api.url, { content: 'ä'.repeat(MAX / 2 + 1) })],
      ['in JSON that is 7 times the size', () => postJson(bed.api.url, { content: 'x'.repeat(MAX * 7) })],
      ['in a form', () => post({ body: form })],
      ['in a form of twice the size', () => post({ body: hugeForm })],
      ['from the shell', () => fetch(bed.api.url, { method: 'POST', body: Buffer.alloc(MAX + 1) })],
    ];
    for (const [name, send] of refused) {
      const { status, code } = await problemOf(await send());
      expect({ name, status, code }).toEqual({ name, status: 413, code: 'content_too_large' });
    }
    expect(await countPastes(bed.db)).toBe(before);
  });

  it('refuses a Content-Length that is too large before the body arrives', async () => {
    const socket = await dial(bed.api.port);
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${MAX + 1}\r\n\r\n`);
    const [first] = (await once(socket, 'data')) as [Buffer];
    expect(parseAnswer(first.toString())).toMatchObject({ status: 413, headers: { connection: 'close' } });
    socket.destroy();
  });

  it('sends the refusal to a client that sends the whole body before it reads', async () => {
    const socket = await dial(bed.api.port);
    const size = 20 * 1024 * 1024;
    socket.pause();
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n`);
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject).write(Buffer.alloc(size), () => resolve());
    });
    const answer = await answerOn(socket);
    expect(answer).toMatchObject({ status: 413, headers: { connection: 'close' } });
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'content_too_large' });
  });

  it('follows MAX_PASTE_BYTES', async () => {
    const api = await bed.start({ env: { MAX_PASTE_BYTES: '5' } });
    expect((await postRaw(api.url, '12345')).status).toBe(201);
    expect((await postRaw(api.url, '123456')).status).toBe(413);
    expect((await postJson(api.url, { content: '123456' })).status).toBe(413);
  });
});

describe('a request with Expect: 100-continue', () => {
  async function ask(headers: Record<string, string | number>, path = '/') {
    const req = request(bed.api.url + path, {
      method: 'POST',
      headers: { Expect: '100-continue', ...headers },
    });
    let continued = false;
    req.on('continue', () => {
      continued = true;
      req.end('waited');
    });
    req.flushHeaders();
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    res.resume();
    req.destroy();
    return { continued, status: res.statusCode };
  }

  it('gets 100 Continue when the body will be read', async () => {
    expect(await ask({ 'Content-Length': 6 })).toEqual({ continued: true, status: 201 });
  });

  it('gets no 100 Continue when the body is too large or encoded, or when the request is invalid', async () => {
    expect(await ask({ 'Content-Length': MAX + 1 })).toEqual({ continued: false, status: 413 });
    expect(await ask({ 'Content-Length': 6, 'Content-Encoding': 'gzip' })).toEqual({
      continued: false,
      status: 415,
    });
    expect(await ask({ 'Content-Length': 6 }, '/?expires_in=1')).toEqual({ continued: false, status: 422 });
    expect(await ask({ 'Content-Length': 6 }, '/v1/nothing')).toEqual({ continued: false, status: 404 });
    expect(await ask({ 'Content-Length': 6 }, '/healthz')).toEqual({ continued: false, status: 405 });
  });
});

describe('an encoded body', () => {
  it('is refused without being read: a gzip bomb is never decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(100 * 1024 * 1024));
    for (const encoding of ['gzip', 'br', 'deflate', 'zstd', 'gzip, identity']) {
      for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=b']) {
        const headers = { 'content-encoding': encoding, 'content-type': type };
        const response = await fetch(`${bed.api.url}/v1/pastes`, { method: 'POST', headers, body: bomb });
        expect(await problemOf(response)).toMatchObject({ status: 415, code: 'unsupported_encoding' });
      }
    }
  });

  it('is stored as it is without Content-Encoding, or with identity', async () => {
    const bytes = gzipSync('compressed');
    const headers = { 'content-encoding': 'Identity' };
    const response = await fetch(`${bed.api.url}/v1/pastes`, { method: 'POST', headers, body: bytes });
    expect(await response.json()).toMatchObject({ size_bytes: bytes.length });
  });

  it('is refused with a transfer coding other than chunked', async () => {
    const socket = await dial(bed.api.port);
    socket.write(
      'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    );
    expect(await answerOn(socket)).toMatchObject({
      status: 415,
      headers: { 'content-type': 'application/problem+json' },
    });
  });
});

describe('a body that stops before its end', () => {
  it('leaves no row and logs no error when the client disconnects', async () => {
    const api = await bed.start();
    const before = await countPastes(bed.db);
    for (const headers of [
      'Content-Length: 100\r\n\r\nhalf',
      'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n',
    ]) {
      const socket = await dial(api.port);
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${headers}`);
      await until(
        () => api.logs.length,
        () => true,
      );
      socket.resetAndDestroy();
    }
    const lines = await until(
      () => api.logs.filter(({ message }) => message === 'request'),
      (requests) => requests.length === 2,
    );
    expect(lines).toEqual(
      Array(2).fill(expect.objectContaining({ level: 'info', aborted: true, route: '/' })),
    );
    expect(api.logs.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
    expect(await countPastes(bed.db)).toBe(before);
  });

  it('is answered 400 when the client still reads', async () => {
    const before = await countPastes(bed.db);
    for (const headers of [
      'Content-Length: 100\r\n\r\nhalf',
      'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n',
    ]) {
      const socket = await dial(bed.api.port);
      socket.end(`POST / HTTP/1.1\r\nHost: x\r\n${headers}`);
      const answer = await answerOn(socket);
      expect(answer).toMatchObject({ status: 400, headers: { connection: 'close' } });
      expect(JSON.parse(answer.body)).toMatchObject({ code: 'request_incomplete' });
    }
    expect(await countPastes(bed.db)).toBe(before);
  });

  it('is answered 408 when it arrives too slowly, and leaves no row', async () => {
    const api = await bed.start({ env: { REQUEST_TIMEOUT_SECONDS: '2' } });
    const before = await countPastes(bed.db);
    const socket = await dial(api.port);
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nX-Request-Id: slow-1\r\nContent-Length: 1000\r\n\r\n');
    const drip = setInterval(() => socket.write('x'), 50); // the limit is for the whole request, not for silence
    // A client that goes on sending after the answer is cut off, in the end by a reset.
    socket
      .once('close', () => clearInterval(drip))
      .once('data', () => {
        clearInterval(drip);
        socket.end();
      });
    const answer = await answerOn(socket);
    expect(answer).toMatchObject({ status: 408, headers: { connection: 'close', 'x-request-id': 'slow-1' } });
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'request_timeout', instance: '/' });
    expect(await countPastes(bed.db)).toBe(before);
  });

  it('without a Content-Length is answered 408 when it arrives more slowly than 64 KiB may', async () => {
    const api = await bed.start({ env: { REQUEST_TIMEOUT_SECONDS: '3' } });
    const socket = await dial(api.port);
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n');
    const answer = await answerOn(socket);
    expect(answer.status).toBe(408);
    expect(JSON.parse(answer.body)).toMatchObject({
      detail: expect.stringContaining('fewer than 21846 bytes'),
    });
  });

  it('is answered 408 when the headers do not arrive', async () => {
    const api = await bed.start({ env: { REQUEST_TIMEOUT_SECONDS: '0.5' } });
    const socket = await dial(api.port);
    socket.write('POST / HTTP/1.1\r\nHo');
    const answer = await answerOn(socket);
    expect(answer).toMatchObject({ status: 408, headers: { 'content-type': 'application/problem+json' } });
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'request_timeout' });
  });
});
