import { request } from 'node:http';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { FaultProxy, withHeader } from '@pasteflow/dev-stack/testing';
import { objectKeyOf } from '@pasteflow/domain';
import { sql } from 'kysely';
import { useApi, type RunningApi } from './support/api.ts';
import { limited } from './support/limits.ts';
import { metricOf } from './support/until.ts';
import {
  compressedPaste,
  newPaste,
  processedPaste,
  putCompressed,
  settle,
  sha256,
} from './support/pastes.ts';
import { compressibleContent, rawGet } from './support/raw-get.ts';

const bed = useApi();
let proxy: FaultProxy;
let api: RunningApi;

beforeAll(async () => {
  proxy = await FaultProxy.start(bed.stack.aws.endpoint);
});
afterEach(() => proxy.clear());
afterAll(() => proxy.stop());

const get = (code: string, headers: Record<string, string> = {}) => rawGet(`${api.url}/${code}`, headers);

const gzipped = { 'accept-encoding': 'gzip' };

describe('an object in another form than its row says, after a late put of another worker', () => {
  it.each([600, 2048, 262_144, 262_145, 1_000_000])(
    'with %i bytes of content is served all the same',
    async (bytes) => {
      api = await bed.start({ env: { CONTENT_CACHE_BYTES: '0' } });
      const content = compressibleContent(bytes);
      const compressed = await processedPaste(bed, content);
      await putCompressed(bed.store, compressed, gzipSync(content));
      const plain = await compressedPaste(bed, content);
      await bed.store.put(objectKeyOf(plain), content, { sha256: sha256(content) });
      for (const code of [compressed, plain]) {
        expect((await get(code)).body.equals(content)).toBe(true);
        const { headers, body } = await get(code, gzipped);
        expect((headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).equals(content)).toBe(true);
        for (const [range, start] of [
          ['bytes=10-19', 10],
          ['bytes=-10', bytes - 10], // beyond the end of the compressed object
        ] as const) {
          const part = await get(code, { range });
          expect([part.status, part.body.toString()]).toEqual([
            206,
            content.toString('utf8', start, start + 10),
          ]);
        }
      }
    },
  );
});

it('a part of compressed content counts as several requests when much is inflated before it', async () => {
  await sql`TRUNCATE rate_limits`.execute(bed.db);
  api = await bed.start({ env: limited({ requests: 12 }) });
  const content = compressibleContent(1_000_000);
  const [compressed, plain] = [await compressedPaste(bed, content), await processedPaste(bed, content)];
  const left = async (code: string, headers: Record<string, string>) =>
    /"requests";r=(\d+)/.exec(String((await get(code, headers)).headers.ratelimit))?.[1];
  expect(await left(compressed, { range: 'bytes=-1' })).toBe('8'); // 1, and 3 for 999,999 bytes
  expect(await left(compressed, { range: 'bytes=0-0' })).toBe('7');
  expect(await left(plain, { range: 'bytes=-1' })).toBe('6');
  expect(await left(compressed, {})).toBe('5');
  expect(await left(compressed, { range: 'bytes=-1' })).toBe('1');
  expect((await get(compressed, { range: 'bytes=-1' })).status).toBe(429);
});

it('a part near the end of compressed content is not refused for ever where few requests are allowed', async () => {
  await sql`TRUNCATE rate_limits`.execute(bed.db);
  api = await bed.start({ env: limited({ requests: 4 }) });
  const code = await compressedPaste(bed, compressibleContent(1_300_000)); // 4 more than the request itself
  expect((await get(code, { range: 'bytes=-1' })).status).toBe(206);
});

describe('a damaged object', () => {
  const damagedPaste = async (content: Buffer, object: Buffer): Promise<string> => {
    const code = await newPaste(bed.db, content);
    await putCompressed(bed.store, code, object);
    await settle(bed.db, code, bed.store.urlOf(objectKeyOf(code)), 'gzip');
    return code;
  };

  it.each<[string, (content: Buffer) => Buffer]>([
    ['is cut off', (content) => gzipSync(content).subarray(0, -4)],
    ['is no gzip', (content) => content.subarray(1)],
    ['has other content', (content) => gzipSync(compressibleContent(content.length))],
    ['is a bomb', () => gzipSync(Buffer.alloc(64 * 1024 * 1024)).subarray(0, 2500)],
  ])('of up to 256 KiB that %s is 503 each time', async (_name, damage) => {
    api = await bed.start();
    const content = compressibleContent(5000);
    const code = await damagedPaste(content, damage(content));
    for (const headers of [{}, gzipped, { range: 'bytes=0-1' }]) {
      const answer = await get(code, headers);
      expect({ headers, status: answer.status }).toEqual({ headers, status: 503 });
      expect(answer.headers).not.toHaveProperty('content-encoding');
    }
  });

  it('of more than 256 KiB is never sent completely', async () => {
    api = await bed.start();
    const content = compressibleContent(1_000_000);
    const object = gzipSync(content);
    object[object.length - 6]! ^= 0xff; // in the checksum
    const { isCut, body } = await get(await damagedPaste(content, object));
    expect(isCut).toBe(true);
    expect(body.length).toBeLessThan(content.length);
    expect(api.logs).toContainEqual(
      expect.objectContaining({ level: 'error', message: 'content cut off by S3' }),
    );
  });
});

describe('an object that S3 sends in chunks, without its length', () => {
  const chunked = () => proxy.rule({ method: 'GET', path: /pastes/ }, withHeader('Content-Length', null));

  it.each([600, 262_144, 262_145, 1_000_000])(
    'with %i bytes of content is served in every form',
    async (bytes) => {
      api = await bed.start({ env: { AWS_ENDPOINT_URL_S3: proxy.url, CONTENT_CACHE_BYTES: '0' } });
      chunked();
      const content = compressibleContent(bytes);
      for (const code of [await processedPaste(bed, content), await compressedPaste(bed, content)]) {
        const whole = await get(code);
        expect([whole.status, whole.isCut, whole.body.equals(content)]).toEqual([200, false, true]);
        const { headers, body } = await get(code, gzipped);
        expect((headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).equals(content)).toBe(true);
        const part = await get(code, { range: 'bytes=10-19' });
        expect([part.status, part.body.toString()]).toEqual([206, content.toString('utf8', 10, 20)]);
      }
    },
  );

  it('is counted by its own bytes in the cache', async () => {
    api = await bed.start({ env: { AWS_ENDPOINT_URL_S3: proxy.url } });
    chunked();
    const content = Buffer.alloc(200_000, 'the same text again and again\n');
    await get(await compressedPaste(bed, content));
    const used = await metricOf(api, 'content_cache_bytes', { kind: 'used' });
    expect(used).toBe(gzipSync(content).length + 2048);
  });

  it.each([1000, 300_000])(
    'is never sent completely when it has another size than %i bytes',
    async (bytes) => {
      api = await bed.start({ env: { AWS_ENDPOINT_URL_S3: proxy.url, CONTENT_CACHE_BYTES: '0' } });
      chunked();
      const content = compressibleContent(bytes);
      const code = await processedPaste(bed, content);
      for (const wrong of [content.subarray(1), Buffer.concat([content, content])]) {
        await bed.store.put(objectKeyOf(code), wrong, { sha256: sha256(wrong) });
        const { status, isCut } = await get(code);
        expect(status === 503 || isCut).toBe(true);
      }
    },
  );
});

describe('the memory of the cache', () => {
  it('holds the compressed bytes, and one request to S3 serves every form', async () => {
    api = await bed.start({ env: { AWS_ENDPOINT_URL_S3: proxy.url } });
    const content = Buffer.alloc(200_000, 'the same text again and again\n');
    const code = await compressedPaste(bed, content);
    await get(code);
    await get(code, gzipped);
    await get(code, { range: 'bytes=5-9' });
    expect(proxy.matching({ method: 'GET', path: new RegExp(code) })).toHaveLength(1);
    expect(await metricOf(api, 'content_cache_bytes', { kind: 'used' })).toBe(
      gzipSync(content).length + 2048,
    );
  });
});

describe('a slow S3', () => {
  it('is left when the client disconnects while a part is cut out of a compressed content', async () => {
    api = await bed.start({ env: { AWS_ENDPOINT_URL_S3: proxy.url } });
    const code = await compressedPaste(bed, compressibleContent(1_000_000));
    const held = proxy.hold({ method: 'GET', path: new RegExp(code) });
    const client = request(`${api.url}/${code}`, { headers: { range: 'bytes=900000-' } }).on(
      'error',
      () => {},
    );
    client.end();
    const { request: toS3 } = await held;
    client.destroy();
    const deadline = performance.now() + 60_000;
    while (!toS3.aborted && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(toS3.aborted).toBe(true);
  });
});
