import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { findPaste } from '@pasteflow/postgres';
import { useApi, type RunningApi } from './support/api.ts';
import { dial } from './support/http.ts';
import { metricOf, until } from './support/until.ts';
import { processedPaste } from './support/pastes.ts';

const MIB = 1024 * 1024;
// Runs before the api stops, because the api waits for its downloads.
const sockets: Socket[] = [];
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

const bed = useApi();
const secret = (content: Buffer | string = 'the secret') => processedPaste(bed, content, { burn: true });
const KEY = 'the key of the reader';

function reveal(code: string, { api, headers }: { api: RunningApi; headers: Record<string, string> }) {
  return fetch(`${api.url}/v1/pastes/${code}/reveal`, { method: 'POST', headers });
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
    headers: { 'idempotency-key': KEY, 'x-forwarded-for': address },
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
