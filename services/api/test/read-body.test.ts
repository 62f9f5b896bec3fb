import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { RequestError } from '../src/http/errors/request-error.ts';
import { drain } from '../src/http/body/drain.ts';
import { readBody } from '../src/http/body/read-body.ts';

const noBudget = { timeLimitMs: 60_000, begin: () => ({ arrived: () => {}, ended: () => {} }) };
const server = createServer();
let socket: Socket;
let req: IncomingMessage;
let res: ServerResponse;
beforeEach(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf');
  [req, res] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  req.on('error', () => {});
});
afterEach(() => {
  socket.destroy();
  server.close();
  server.closeAllConnections();
});

const read = (timeLimitMs = 60_000) =>
  readBody(req, res, {
    maxBytes: 1000,
    tooLarge: () => new RequestError('content_too_large', 'It is too large.'),
    budget: { ...noBudget, timeLimitMs },
    weight: 1,
  });
const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

describe('the read of a body', () => {
  it('ends at once, and keeps no timer, when the client left before it began', async () => {
    const closed = new Promise((resolve) => req.once('close', resolve));
    socket.resetAndDestroy();
    await closed;
    const timersBefore = timers();
    await expect(read()).rejects.toMatchObject({ code: 'request_incomplete' });
    expect(timers()).toBe(timersBefore);
  });

  it('frees each chunk when its bytes have been copied', async () => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk)); // sees each chunk before readBody does
    const reading = read();
    socket.write('x'.repeat(96));
    expect(String(await reading)).toBe(`half${'x'.repeat(96)}`);
    expect(chunks.map(({ length }) => length)).toEqual(chunks.map(() => 0));
  });

  it('ends when less arrives than would end the body within the time limit, also of 100 bytes', async () => {
    await expect(read(120)).rejects.toMatchObject({
      code: 'request_timeout',
      message: expect.stringContaining('fewer than 34 bytes in 0.04 s'),
    });
  });

  it('counts what has arrived while the process was busy for longer than a window', async () => {
    const reading = read(120);
    await new Promise((resolve) => socket.write('x'.repeat(96), resolve));
    const until = performance.now() + 80;
    while (performance.now() < until);
    expect(await reading).toHaveLength(100);
  });

  it('ends when the request is answered meanwhile', async () => {
    const reading = read();
    res.end();
    await expect(reading).rejects.toMatchObject({ code: 'request_incomplete' });
  });

  it('ends at once when the request was answered before it began', async () => {
    res.end();
    await once(res, 'close');
    await expect(read()).rejects.toMatchObject({ code: 'request_incomplete' });
  });
});

describe('the rest of a refused body', () => {
  it('is freed as it arrives', async () => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    const drained = new Promise<void>((done) => drain(req, done));
    socket.write('x'.repeat(96));
    await drained;
    expect(chunks.length).toBeGreaterThan(0);
    expect(chunks.map(({ length }) => length)).toEqual(chunks.map(() => 0));
  });
});
