import { getEventListeners, once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Pool } from 'undici';
import { CollectedAnswer, type Answer } from '../src/collected-answer.ts';

let server: Server | undefined;
let pool: Pool | undefined;

afterEach(async () => {
  await pool?.destroy();
  server?.closeAllConnections();
  server?.close();
});

async function serve(answer: RequestListener, connections = 1): Promise<Pool> {
  server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { connections });
  return pool;
}

interface SendOptions {
  readonly path?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

function send(to: Pool, { path = '/', timeoutMs = 60_000, signal }: SendOptions = {}): Promise<Answer> {
  const answer = new CollectedAnswer({ name: 'S3', timeoutMs, signal });
  if (!answer.hasFailed) to.dispatch({ method: 'GET', path }, answer);
  return answer.promise;
}

describe('an answer that is collected', () => {
  it('has the status, the headers and the text, also of a body in pieces that cut a character', async () => {
    const [first, second] = [
      Buffer.from('gr\u00fc').subarray(0, 3),
      Buffer.from('gr\u00fc\u00df').subarray(3),
    ];
    const to = await serve((_req, res) => {
      res.writeHead(404, { 'x-amz-request-id': 'r1' }).write(first);
      setTimeout(() => res.end(second), 20);
    });
    expect(await send(to)).toMatchObject({
      statusCode: 404,
      headers: { 'x-amz-request-id': 'r1' },
      text: 'gr\u00fc\u00df',
    });
  });

  it('is the last one when informational answers come before it', async () => {
    const to = await serve((_req, res) => {
      res.writeEarlyHints({ link: '</style>; rel=preload' });
      res.writeHead(200).end('stored');
    });
    expect(await send(to)).toMatchObject({ statusCode: 200, text: 'stored' });
  });

  it('fails with a TimeoutError when it does not begin in time, although informational answers came', async () => {
    const to = await serve((_req, res) => res.writeEarlyHints({ link: '</style>; rel=preload' }));
    await expect(send(to, { timeoutMs: 100 })).rejects.toMatchObject({
      name: 'TimeoutError',
      code: 'ETIMEDOUT',
      message: 'S3 did not answer within 100 ms.',
    });
  });

  it('fails while the request waits for a connection, and the request is never sent', async () => {
    const paths: (string | undefined)[] = [];
    const to = await serve((req, res) => {
      paths.push(req.url);
      if (req.url === '/last') res.end();
    });
    const slow = send(to, { path: '/slow', timeoutMs: 200 });
    const waiting = send(to, { path: '/waiting', timeoutMs: 50 });
    const last = send(to, { path: '/last' });
    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
    await expect(slow).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(await last).toMatchObject({ statusCode: 200 });
    expect(paths).toEqual(['/slow', '/last']);
  });

  it('fails with an AbortError when its signal aborts in the middle of the body, and closes the connection', async () => {
    const controller = new AbortController();
    const closed = Promise.withResolvers<void>();
    const to = await serve((_req, res) => {
      res.once('close', closed.resolve).write('a part');
      controller.abort();
    });
    await expect(send(to, { signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' });
    await closed.promise;
  });

  it('is not asked for when its signal has aborted before', async () => {
    let requests = 0;
    const to = await serve(() => void (requests += 1));
    await expect(send(to, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
    expect(requests).toBe(0);
  });

  it('leaves no listener on a signal that stays', async () => {
    const { signal } = new AbortController();
    const to = await serve((_req, res) => res.end('ok'));
    await send(to, { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('fails with the error of the network when the connection is cut', async () => {
    const to = await serve((_req, res) => res.destroy());
    await expect(send(to)).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
  });
});
