import { afterEach, describe, expect, it } from '@jest/globals';
import { FaultProxy } from '@pasteflow/dev-stack/testing';
import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { PipelinedRequests } from '../src/http/server/api-server.ts';
import { type RunningApi, useApi } from './support/api.ts';
import { answerOn, dial, rawExchange } from './support/http.ts';
import { newPaste, processedPaste } from './support/pastes.ts';
import { metricOf, until, waiting } from './support/until.ts';

// Before the api stops, because the api waits for its requests.
const dialled: Socket[] = [];
afterEach(() => dialled.splice(0).forEach((socket) => socket.destroy()));
const bed = useApi();

async function idle(port: number, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = await dial(port, localAddress);
  socket.on('error', () => {});
  dialled.push(socket);
  return socket;
}

/** A GET on a connection that stays open. */
async function answered(socket: Socket): Promise<void> {
  const answer = Promise.race([once(socket, 'data'), once(socket, 'close').then(() => ['closed'])]);
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(String((await answer)[0])).toMatch(/^HTTP\/1.1 200/);
}

/** A request of which one byte is missing. */
async function unfinished(api: RunningApi, socket: Socket): Promise<void> {
  const before = await metricOf(api, 'http_body_bytes', { kind: 'in_flight' });
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\nx');
  await until(
    () => metricOf(api, 'http_body_bytes', { kind: 'in_flight' }),
    (bytes) => bytes === before + 1,
  );
}

async function endOf(socket: Socket): Promise<void> {
  await new Promise((resolve) => socket.once('end', resolve).once('close', resolve).resume());
}

describe('the connections of a process', () => {
  it('are limited: the one that is idle for longest is closed for a new one, and one with a request never', async () => {
    // TRUST_PROXY: this machine is no client, so that only the limit of the process counts.
    const api = await bed.start({ env: { MAX_WAITERS: '4', TRUST_PROXY: '1' }, connectionsBesideWaiters: 1 });
    const open = () => metricOf(api, 'http_connections', { kind: 'open' });
    const closed = () => metricOf(api, 'http_connections_closed_idle_total', { of: 'total' });
    const sockets: Socket[] = [];
    for (let n = 0; n < 5; n += 1) {
      sockets.push(await idle(api.port));
      await until(open, (count) => count === n + 1);
    }
    const [first, second, third] = sockets as [Socket, Socket, Socket];
    await unfinished(api, second);
    await answered(first);

    const ended = endOf(third);
    const sixth = await idle(api.port);
    await ended;
    await answered(sixth);
    expect([first.destroyed, second.destroyed, await closed()]).toEqual([false, false, 1]);
    expect(await metricOf(api, 'http_connections', { kind: 'limit' })).toBe(5);
    expect(await metricOf(api, 'http_connections_dropped_total', { of: 'total' })).toBe(0);
    second.write('x');
    expect((await answerOn(second)).status).toBe(201);
    sockets.forEach((socket) => socket.destroy()); // or the stop would wait for them
  });

  it('are closed at once when all others have a request in progress', async () => {
    const api = await bed.start({ env: { MAX_WAITERS: '2', TRUST_PROXY: '1' }, connectionsBesideWaiters: 1 });
    const busy = await Promise.all([0, 1, 2].map(() => idle(api.port)));
    for (const socket of busy) await unfinished(api, socket);
    await endOf(await idle(api.port));
    expect(await metricOf(api, 'http_connections_dropped_total', { of: 'total' })).toBe(1);
    for (const socket of busy) {
      socket.write('x');
      expect((await answerOn(socket)).status).toBe(201);
    }
  });

  it('of one address are at most a quarter, whatever it does with them, and others are served', async () => {
    const api = await bed.start({ env: { MAX_WAITERS: '4' }, connectionsBesideWaiters: 4 });
    const flood: Socket[] = [];
    for (let n = 0; n < 40; n += 1) {
      const socket = await idle(api.port);
      socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
      flood.push(socket);
    }
    await until(
      () => metricOf(api, 'http_connections_closed_idle_total', { of: 'caller' }),
      (count) => count === 38,
    );
    for (const socket of flood.slice(38)) await unfinished(api, socket);
    await endOf(await idle(api.port));
    expect(await metricOf(api, 'http_connections_dropped_total', { of: 'caller' })).toBe(1);
    for (let n = 0; n < 40; n += 1) {
      const other = await idle(api.port, '127.0.0.2');
      await answered(other);
    }
    expect(await metricOf(api, 'http_connections_dropped_total', { of: 'total' })).toBe(0);
    flood.forEach((socket) => socket.destroy());
  });

  it('whose clients do not read their answers make room for others', async () => {
    const api = await bed.start({ env: { MAX_WAITERS: '4' }, connectionsBesideWaiters: 4 });
    for (const address of ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4']) {
      for (let n = 0; n < 2; n += 1) {
        const socket = (await idle(api.port, address)).pause();
        socket.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(90));
      }
    }
    await until(
      () => metricOf(api, 'http_connections', { kind: 'open' }),
      (count) => count === 8,
    );
    for (let n = 0; n < 8; n += 1) await answered(await idle(api.port, '127.0.0.5'));
    dialled.forEach((socket) => socket.destroy());
  });

  it('of a trusted proxy have no limit of their own', async () => {
    const api = await bed.start({
      env: { MAX_WAITERS: '4', TRUST_PROXY: 'loopback' },
      connectionsBesideWaiters: 4,
    });
    const sockets = await Promise.all(Array.from({ length: 8 }, () => idle(api.port)));
    for (const socket of sockets) await answered(socket);
    expect(await metricOf(api, 'http_connections_closed_idle_total', { of: 'caller' })).toBe(0);
    sockets.forEach((socket) => socket.destroy());
  });

  it('are 2,000 more than the clients that may wait', async () => {
    const api = await bed.start({ env: { MAX_WAITERS: '100' } });
    expect(await metricOf(api, 'http_connections', { kind: 'limit' })).toBe(2100);
  });
});

describe('what the HTTP parser refuses', () => {
  const refusals = (reason: string, api = bed.api) => metricOf(api, 'http_parser_refusals_total', { reason });

  it.each([
    ['malformed', 'what?\r\n\r\n', 400],
    ['malformed', Buffer.from('16030100', 'hex'), 400],
    ['headers_too_large', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`, 431],
    [
      'chunk_extensions_too_large',
      `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}\r\nx\r\n`,
      400,
    ],
    ['connect', 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n', 405],
  ])('is answered and counted as %s', async (reason, bytes, status) => {
    const before = await refusals(reason);
    const answer = await rawExchange(bed.api.port, bytes);
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({ 'content-type': 'application/problem+json', connection: 'close' });
    expect(await refusals(reason)).toBe(before + 1);
  });

  it('is counted as incomplete when the client ends its side in the middle of a body', async () => {
    const before = await refusals('incomplete');
    const socket = await dial(bed.api.port);
    socket.end('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf');
    expect((await answerOn(socket)).status).toBe(400);
    expect(await refusals('incomplete')).toBe(before + 1);
  });

  it('includes headers that take too long, and connections on which nothing is sent', async () => {
    const api = await bed.start({ env: { REQUEST_TIMEOUT_SECONDS: '0.2' } });
    const [slow, unused] = await Promise.all([dial(api.port), dial(api.port)]);
    slow.write('GET / HTTP/1.1\r\nX-Slow');
    expect((await answerOn(slow)).status).toBe(408);
    expect((await answerOn(unused)).body).toBe('');
    expect([await refusals('timeout', api), await refusals('unused', api)]).toEqual([1, 1]);
  });

  it('does not stop the process, whatever the client does after a CONNECT', async () => {
    for (let i = 0; i < 20; i += 1) {
      const socket = await idle(bed.api.port);
      socket.write('CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n');
      if (i % 2 === 0) socket.write('x'.repeat(100_000));
      socket.resetAndDestroy();
    }
    expect((await rawExchange(bed.api.port, 'GET /healthz HTTP/1.0\r\n\r\n')).status).toBe(200);
  });
});

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;

describe('requests that a client sends without waiting for the answers', () => {
  it('are handled one after the other, in their order', async () => {
    const proxy = await FaultProxy.start(bed.stack.aws.endpoint);
    const api = await bed.start({ env: { AWS_ENDPOINT_URL_S3: proxy.url } });
    const codes = await Promise.all(['first', 'second', 'third'].map((each) => processedPaste(bed, each)));
    const held = proxy.hold({ method: 'GET' });
    const socket = await dial(api.port);
    socket.write(codes.map((code) => get(`/${code}`)).join('') + get('/healthz', 'Connection: close\r\n'));
    const request = await held;
    expect((await fetch(`${api.url}/healthz`)).status).toBe(200); // other connections don't wait
    expect(proxy.requests).toHaveLength(1);
    await request.forward();
    const { body } = await answerOn(socket);
    expect(body.match(/first|second|third|"alive"/g)).toEqual(['first', 'second', 'third', '"alive"']);
    await api.stop();
    await proxy.stop();
  });

  it('all end when the client disconnects, handled or not', async () => {
    const code = await newPaste(bed.db);
    const socket = await dial(bed.api.port);
    socket.write(
      get(`/v1/pastes/${code}`, 'Prefer: wait=60\r\n') + get(`/v1/pastes/${code}/events`).repeat(3),
    );
    await waiting(bed.api, 1, 'wait');
    socket.resetAndDestroy();
    await waiting(bed.api, 0, 'wait');
    await waiting(bed.api, 0, 'events');
    const ended = () =>
      bed.api.logs.filter(({ message, aborted }) => message === 'request' && aborted === true);
    await until(ended, ({ length }) => length === 4);
    // Three were never handled.
    expect(ended().map(({ route }) => route)).toEqual(['/v1/pastes/:short_code', 'none', 'none', 'none']);
  });

  it('are at most 100: the connection is cut', async () => {
    const code = await newPaste(bed.db);
    const socket = await dial(bed.api.port);
    socket.write(get(`/v1/pastes/${code}`, 'Prefer: wait=60\r\n') + get('/healthz').repeat(101));
    expect(await answerOn(socket).catch(() => ({ status: Number.NaN }))).toEqual(
      expect.objectContaining({ status: Number.NaN }),
    );
    await waiting(bed.api, 0, 'wait');
  });
});

it('a connection that waits for its next request keeps no answer', () => {
  const [pipelined, socket] = [new PipelinedRequests(), new Socket()];
  const take = (): ServerResponse => {
    const req = new IncomingMessage(socket);
    const res = new ServerResponse(req);
    pipelined.take(req, res, () => {});
    return res;
  };
  expect(pipelined.pending(socket)).toBeUndefined();
  const first = take();
  expect(pipelined.pending(socket)).toBe(first);
  const second = take();
  pipelined.leave(socket, first);
  expect(pipelined.pending(socket)).toBe(second);
  pipelined.leave(socket, second);
  expect(pipelined.pending(socket)).toBeUndefined();
});
