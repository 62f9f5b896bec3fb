import type { Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { FaultProxy } from '@pasteflow/dev-stack/testing';
import { useApi, type RunningApi } from './support/api.ts';
import { dial, problemOf } from './support/http.ts';
import { metricOf, until } from './support/until.ts';
import { processedPaste } from './support/pastes.ts';

const MIB = 1024 * 1024;
// Runs before the api stops, because the api waits for its downloads.
const sockets: Socket[] = [];
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

const bed = useApi();

let small = '';
let large = '';
/** More than the kernel buffers for a connection. */
const largeContent = Buffer.alloc(10 * MIB, 'pasteflow\n');
beforeAll(async () => {
  small = await processedPaste(bed, Buffer.alloc(256 * 1024, 's'));
  large = await processedPaste(bed, largeContent);
});

/** Sends requests for content and never reads. */
async function unread(api: RunningApi, code: string, address: string): Promise<void> {
  const socket = await dial(api.port);
  socket.on('error', () => {}).pause();
  sockets.push(socket);
  socket.write(`GET /${code} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\n\r\n`);
}

const read = (api: RunningApi, code: string, address: string) =>
  fetch(`${api.url}/${code}`, { headers: { 'x-forwarded-for': address } });

const streams = (api: RunningApi) => metricOf(api, 'http_download_streams', { kind: 'in_flight' });
const refused = (api: RunningApi, kind: string, of: string) =>
  metricOf(api, 'http_downloads_refused_total', { kind, of });

const env = { TRUST_PROXY: '1', MIN_DOWNLOAD_BYTES_PER_SECOND: '0' };

describe('40 readers that never read a large content', () => {
  it('of one caller hold the streams of one caller: others read everything', async () => {
    const api = await bed.start({ env, s3Sockets: 8, streamsPerCaller: 3 });
    await Promise.all(Array.from({ length: 40 }, () => unread(api, large, '192.0.2.1')));
    await until(
      () => refused(api, 'stream', 'caller'),
      (count) => count === 37,
    );
    expect(await streams(api)).toBe(3);

    const other = await read(api, large, '192.0.2.2');
    expect(Buffer.from(await other.arrayBuffer()).equals(largeContent)).toBe(true);
    const refusal = await read(api, large, '192.0.2.1');
    expect(refusal.headers.get('retry-after')).toBe('1');
    const problem = await problemOf(refusal);
    expect(problem).toMatchObject({ status: 429, code: 'rate_limited' });
    expect(problem.detail).toContain('downloading too many pastes');
    const own = await Promise.all(Array.from({ length: 20 }, () => read(api, small, '192.0.2.1')));
    expect(own.map(({ status }) => status)).toEqual(Array(20).fill(200));
    await Promise.all(own.map((response) => response.arrayBuffer()));

    sockets.splice(0).forEach((socket) => socket.destroy());
    await until(
      () => streams(api),
      (count) => count === 0,
    );
  });

  it('of 40 callers hold all streams, and short ones are read as before', async () => {
    const api = await bed.start({ env, s3Sockets: 8 });
    await Promise.all(Array.from({ length: 40 }, (_, i) => unread(api, large, `192.0.2.${i}`)));
    await until(
      () => refused(api, 'stream', 'total'),
      (count) => count === 34,
    );
    expect([await streams(api), await metricOf(api, 'http_download_streams', { kind: 'limit' })]).toEqual([
      6, 6,
    ]);
    expect(await problemOf(await read(api, large, '198.51.100.1'))).toMatchObject({
      status: 503,
      code: 'overloaded',
    });
    for (let i = 0; i < 20; i += 1) {
      const response = await read(api, small, '198.51.100.1');
      expect((await response.arrayBuffer()).byteLength).toBe(256 * 1024);
    }
    // Neither of these reads the content.
    const path = `${api.url}/${large}`;
    expect((await fetch(path, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(path, { headers: { 'if-none-match': '*' } })).status).toBe(304);
    const part = await fetch(path, { headers: { range: 'bytes=10-262153' } });
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer()).equals(largeContent.subarray(10, 262_154))).toBe(true);
  });

  it('are cut when they read less than MIN_DOWNLOAD_BYTES_PER_SECOND', async () => {
    const api = await bed.start({
      env: { TRUST_PROXY: '1', MIN_DOWNLOAD_BYTES_PER_SECOND: '16384' },
      sending: { tickMs: 10, maxCreditMs: 100 },
    });
    await Promise.all(Array.from({ length: 5 }, () => unread(api, large, '192.0.2.1')));
    await until(
      () => metricOf(api, 'http_downloads_too_slow_total'),
      (count) => count === 5,
    );
    expect(await streams(api)).toBe(0);
    expect(api.logs).toContainEqual(
      expect.objectContaining({ message: 'download too slow; connection cut', short_code: large }),
    );
    expect((await read(api, small, '192.0.2.1')).status).toBe(200);
  });
});

describe('small content that is being sent', () => {
  it('take at most MAX_DOWNLOAD_BYTES_IN_FLIGHT of memory, and of one caller half', async () => {
    const proxy = await FaultProxy.start(bed.stack.aws.endpoint);
    const api = await bed.start({
      env: { ...env, AWS_ENDPOINT_URL_S3: proxy.url, MAX_DOWNLOAD_BYTES_IN_FLIGHT: String(MIB) },
    });
    const bytes = () => metricOf(api, 'http_download_bytes', { kind: 'in_flight' });
    const held = [1, 2, 3, 4].map(() => proxy.hold({ method: 'GET' }));
    const first = [1, 2].map(() => read(api, small, '192.0.2.1'));
    await until(bytes, (count) => count === MIB / 2);
    const problem = await problemOf(await read(api, small, '192.0.2.1'));
    expect(problem).toMatchObject({ status: 429, code: 'rate_limited' });
    const second = [1, 2].map(() => read(api, small, '192.0.2.2'));
    await until(bytes, (count) => count === MIB);
    expect(await problemOf(await read(api, small, '192.0.2.3'))).toMatchObject({ status: 503 });
    expect([await refused(api, 'whole', 'caller'), await refused(api, 'whole', 'total')]).toEqual([1, 1]);
    for (const request of await Promise.all(held)) await request.forward();
    for (const response of await Promise.all([...first, ...second]))
      expect((await response.arrayBuffer()).byteLength).toBe(256 * 1024);
    await until(bytes, (count) => count === 0);
    await api.stop();
    await proxy.stop();
  });

  it('count ten times when they are shown as a page, whose markup is in memory too', async () => {
    const proxy = await FaultProxy.start(bed.stack.aws.endpoint);
    const api = await bed.start({
      env: { ...env, AWS_ENDPOINT_URL_S3: proxy.url, MAX_DOWNLOAD_BYTES_IN_FLIGHT: String(MIB) },
    });
    const held = proxy.hold({ method: 'GET' });
    const page = (address: string) =>
      fetch(`${api.url}/${small}`, { headers: { accept: 'text/html', 'x-forwarded-for': address } });
    const first = page('192.0.2.1');
    await until(
      () => metricOf(api, 'http_download_bytes', { kind: 'in_flight' }),
      (count) => count === (10 * MIB) / 4,
    );
    expect((await page('192.0.2.2')).status).toBe(503);
    await (await held).forward();
    expect(await (await first).text()).toContain('<!doctype html>');
    expect(await (await page('192.0.2.2')).text()).toContain('<!doctype html>');
    await api.stop();
    await proxy.stop();
  });

  it('release their memory when S3 fails', async () => {
    const proxy = await FaultProxy.start(bed.stack.aws.endpoint);
    const api = await bed.start({ env: { ...env, AWS_ENDPOINT_URL_S3: proxy.url } });
    proxy.rule({ method: 'GET' }, { kind: 'fail', status: 500 });
    expect(await problemOf(await read(api, small, '192.0.2.1'))).toMatchObject({
      code: 'dependency_unavailable',
    });
    expect(await metricOf(api, 'http_download_bytes', { kind: 'in_flight' })).toBe(0);
    await api.stop();
    await proxy.stop();
  });
});
