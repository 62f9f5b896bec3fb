import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.ts';
import { answerOn, dial, rawExchange } from './support/http.ts';
import { metricOf } from './support/metric.ts';
import { until } from './support/until.ts';

const bed = useApi();
const dialled: Socket[] = [];
afterEach(() => dialled.splice(0).forEach((socket) => socket.destroy()));

async function idle(port: number): Promise<Socket> {
  const socket = await dial(port);
  socket.on('error', () => {});
  dialled.push(socket);
  return socket;
}

describe('the connections of a process', () => {
  it('are limited: those beyond MAX_CONNECTIONS are closed at once, and the others are served', async () => {
    const api = await bed.start({ env: { MAX_CONNECTIONS: '5', MAX_WAITERS: '4' } });
    const open = () => metricOf(api, 'http_connections', { kind: 'open' });
    const sockets = await Promise.all(Array.from({ length: 5 }, () => idle(api.port)));
    await until(open, (count) => count === 5);
    const refused = await idle(api.port);
    await new Promise((resolve) => refused.once('end', resolve).once('close', resolve).resume());
    expect(await metricOf(api, 'http_connections_dropped_total')).toBe(1);
    expect(await metricOf(api, 'http_connections', { kind: 'limit' })).toBe(5);

    sockets[0]!.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect((await answerOn(sockets[0]!)).status).toBe(200);
    await until(open, (count) => count === 4);
    expect((await rawExchange(api.port, 'GET /healthz HTTP/1.0\r\n\r\n')).status).toBe(200);
    sockets.forEach((socket) => socket.destroy()); // or the stop would wait for them
  });

  it('are by default 2,000 more than the clients that may wait', async () => {
    const api = await bed.start({ env: { MAX_WAITERS: '100' } });
    expect(await metricOf(api, 'http_connections', { kind: 'limit' })).toBe(2100);
  });

  it('must be more than the clients that may wait', async () => {
    const env = { MAX_CONNECTIONS: '10000', MAX_WAITERS: '10000' };
    await expect(bed.start({ env })).rejects.toThrow(
      /MAX_CONNECTIONS is not more than MAX_WAITERS \(10000\)/,
    );
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
