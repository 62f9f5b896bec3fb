import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { objectKeyOf } from '@pasteflow/domain';
import { findPaste, takeDown, takeOverBurned } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { useApi, type RunningApi } from './support/api.ts';
import { dial, problemOf } from './support/http.ts';
import { metricOf, until } from './support/until.ts';
import { processedPaste } from './support/pastes.ts';

const MIB = 1024 * 1024;
// Runs before the api stops, because the api waits for its downloads.
const sockets: Socket[] = [];
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

const bed = useApi();
const secret = (content: Buffer | string = 'the secret') => processedPaste(bed, content, { burn: true });
const KEY = 'the key of the reader';

function reveal(
  code: string,
  {
    api = bed.api,
    key,
    headers = {},
  }: { api?: RunningApi; key?: string; headers?: Record<string, string> } = {},
): Promise<Response> {
  const keyed = key === undefined ? {} : { 'idempotency-key': key };
  return fetch(`${api.url}/v1/pastes/${code}/reveal`, { method: 'POST', headers: { ...keyed, ...headers } });
}

const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());
const rowOf = async (code: string) => (await findPaste(bed.db, code))!;

/** A request whose answer nobody reads. */
async function unread(api: RunningApi, code: string, key: string, address = '192.0.2.1'): Promise<Socket> {
  const socket = await dial(api.port);
  socket.on('error', () => {}).pause();
  sockets.push(socket);
  socket.write(
    `POST /${code} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\nIdempotency-Key: ${key}\r\n\r\n`,
  );
  return socket;
}

/** The rest of the answer on this connection, without the headers. */
async function bodyOn(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) {
    chunks.push(chunk as Buffer);
    const received = Buffer.concat(chunks);
    const start = received.indexOf('\r\n\r\n') + 4;
    const length = Number(/content-length: (\d+)/i.exec(received.subarray(0, start).toString())?.[1]);
    if (start >= 4 && received.length >= start + length) return received.subarray(start);
  }
  throw new Error('the answer broke off');
}

describe('a reader who repeats a reveal', () => {
  it('gets the content again by the same key, for five minutes; others get 410', async () => {
    const code = await secret();
    expect(await (await reveal(code, { key: KEY })).text()).toBe('the secret');
    expect((await reveal(code, { key: 'the key of another one' })).status).toBe(410);
    expect((await reveal(code)).status).toBe(410);
    const again = await reveal(code, { key: KEY });
    expect([again.status, await again.text()]).toEqual([200, 'the secret']);
    expect(again.headers.get('idempotency-key')).toBeNull();
    const atShortUrl = { method: 'POST', headers: { 'idempotency-key': KEY } };
    expect(await (await fetch(`${bed.api.url}/${code}`, atShortUrl)).text()).toBe('the secret');
    await sql`UPDATE pastes SET burned_at = now() - interval '301 seconds',
      deletion_initiated_at = now() - interval '301 seconds' WHERE short_code = ${code}`.execute(bed.db);
    expect((await reveal(code, { key: KEY })).status).toBe(410);
  });

  it('sees the same page again after a reload, whose form has the key', async () => {
    const code = await secret();
    const page = (init: RequestInit) =>
      fetch(`${bed.api.url}/${code}`, { ...init, headers: { accept: 'text/html' } });
    const form = await (await page({})).text();
    const [, key = ''] = /<input type="hidden"\s+name="key" value="([\w-]{43})">/.exec(form) ?? [];
    expect(form.split(key)).toHaveLength(2); // in the form alone, and in no command
    const press = () => page({ method: 'POST', body: new URLSearchParams({ key }) });
    const first = await (await press()).text();
    const reloaded = await press();
    expect([reloaded.status, await reloaded.text()]).toEqual([200, first]);
    expect(reloaded.headers.get('content-length')).toBe(String(Buffer.byteLength(first)));
    expect(first).toContain('the secret');
    expect((await page({ method: 'POST' })).status).toBe(410);
  });

  it('gets in a header the key that the api makes for a request without one', async () => {
    const code = await secret();
    const first = await reveal(code);
    expect(await first.text()).toBe('the secret');
    const key = first.headers.get('idempotency-key')!;
    expect(key).toMatch(/^[\w-]{43}$/);
    expect(await (await reveal(code, { key })).text()).toBe('the secret');
    expect(JSON.stringify(bed.api.logs)).not.toContain(key);
  });

  it.each([
    [
      'takedown',
      451,
      (code: string) => takeDown(bed.db, [code], { actor: 'ops/x', class: 'spam', reason: 'x' }),
    ],
    ['cleanup', 410, () => takeOverBurned(bed.db, { afterSeconds: 0, limit: 100 })],
    [
      'cleanup that has deleted the object',
      410,
      async (code: string) => {
        await takeOverBurned(bed.db, { afterSeconds: 0, limit: 100 });
        await bed.store.deleteMany([objectKeyOf(code)]);
      },
    ],
  ] as const)('is refused after a %s', async (_name, status, end) => {
    const code = await secret();
    expect((await reveal(code, { key: KEY })).status).toBe(200);
    await end(code);
    expect((await reveal(code, { key: KEY })).status).toBe(status);
  });

  it('gets all of the content after a connection that was cut because it was too slow', async () => {
    const api = await bed.start({ sending: { tickMs: 10, maxCreditMs: 100 } });
    const content = Buffer.alloc(10 * MIB, 'pasteflow\n');
    const code = await secret(content);
    await unread(api, code, KEY);
    await until(
      () => metricOf(api, 'http_downloads_too_slow_total'),
      (count) => count === 1,
    );
    expect((await rowOf(code)).burned_at).not.toBeNull();
    expect((await bytesOf(await reveal(code, { key: KEY }))).equals(content)).toBe(true);
  });

  it('gets all of the content from an api that stops meanwhile, or from another one', async () => {
    const api = await bed.start();
    const content = Buffer.alloc(10 * MIB, 'pasteflow\n');
    const code = await secret(content);
    const socket = await unread(api, code, KEY);
    await until(
      () => rowOf(code),
      ({ burned_at: burnedAt }) => burnedAt !== null,
    );
    const stopping = api.stop();
    await until(
      () =>
        fetch(api.url).then(
          () => false,
          () => true,
        ),
      Boolean,
    );
    expect((await bodyOn(socket)).equals(content)).toBe(true);
    await stopping;
    expect((await bytesOf(await reveal(code, { key: KEY }))).equals(content)).toBe(true);
  });
});

describe('a key of a reader', () => {
  it('is refused when it can be guessed, with the reason', async () => {
    const code = await secret();
    const { status, errors } = await problemOf(await reveal(code, { key: 'a-short-key' }));
    expect([status, errors]).toEqual([
      422,
      [{ path: 'Idempotency-Key', message: expect.stringContaining('at least 16 characters') }],
    ]);
    expect(await (await reveal(code, { key: KEY })).text()).toBe('the secret');
  });
});

describe('a reveal of more than 256 KiB', () => {
  const content = Buffer.alloc(400_000, 'pasteflow\n');
  const large = Buffer.alloc(10 * MIB, 'pasteflow\n');
  const tight = (minHeldMs: number) =>
    bed.start({
      env: {
        TRUST_PROXY: '1',
        MAX_DOWNLOAD_BYTES_IN_FLIGHT: String(16 * MIB),
        MIN_DOWNLOAD_BYTES_PER_SECOND: '0',
      },
      minHeldMs,
    });
  const from = (address: string, api: RunningApi) => ({
    api,
    key: KEY,
    headers: { 'x-forwarded-for': address },
  });
  /** An answer that nobody reads and that has been claimed. */
  async function holding(api: RunningApi, code: string, address: string): Promise<Socket> {
    const socket = await unread(api, code, KEY, address);
    await until(
      () => metricOf(api, 'pastes_revealed_total'),
      (count) => count >= 1,
    );
    return socket;
  }
  /** How many bytes still come until the connection ends. */
  async function restOf(socket: Socket): Promise<number> {
    let bytes = 0;
    socket.on('data', (chunk) => (bytes += chunk.length)).resume();
    socket.once('end', () => socket.destroy());
    await once(socket, 'close');
    return bytes;
  }
  const heldBytes = (api: RunningApi, expected: number) =>
    until(
      () => metricOf(api, 'http_held_bytes', { kind: 'in_flight' }),
      (bytes) => bytes === expected,
    );

  it('is refused while its caller, or all, hold too much memory for answers that have just begun, and deletes nothing then', async () => {
    const api = await tight(Infinity);
    const [one, two] = [await secret(large), await secret(large)];
    const socket = await holding(api, one, '192.0.2.1');
    expect((await reveal(two, from('192.0.2.2', api))).status).toBe(503);
    const other = await secret(content);
    expect((await reveal(other, from('192.0.2.1', api))).status).toBe(429);
    const short = await secret();
    expect(await (await reveal(short, from('192.0.2.1', api))).text()).toBe('the secret');
    for (const code of [two, other]) expect((await rowOf(code)).burned_at).toBeNull();
    socket.destroy();
    await heldBytes(api, 0);
    expect((await bytesOf(await reveal(two, from('192.0.2.2', api)))).equals(large)).toBe(true);
    expect((await bytesOf(await reveal(one, from('192.0.2.1', api)))).equals(large)).toBe(true);
  });

  it('ends the longest-running answers of others when all hold too much memory, and they can be repeated', async () => {
    const api = await tight(0);
    const [one, two] = [await secret(large), await secret(large)];
    const socket = await holding(api, one, '192.0.2.1');
    expect((await bytesOf(await reveal(two, from('192.0.2.2', api)))).equals(large)).toBe(true);
    expect(await restOf(socket)).toBeLessThan(large.length);
    await heldBytes(api, 0);
    expect((await bytesOf(await reveal(one, from('192.0.2.1', api)))).equals(large)).toBe(true);
  });

  it('ends the earlier answer to the same reader', async () => {
    const api = await tight(Infinity);
    const code = await secret(large);
    const socket = await holding(api, code, '192.0.2.1');
    expect((await bytesOf(await reveal(code, from('192.0.2.2', api)))).equals(large)).toBe(true);
    expect(await restOf(socket)).toBeLessThan(large.length);
  });
});
