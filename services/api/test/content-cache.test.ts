import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { FaultProxy } from '@pasteflow/dev-stack/testing';
import { objectKeyOf } from '@pasteflow/domain';
import { Metrics } from '@pasteflow/runtime';
import { ContentCache } from '../src/storage/content-cache.ts';
import { useApi, type RunningApi } from './support/api.ts';
import { problemOf } from './support/http.ts';
import { metricOf } from './support/until.ts';
import {
  claimForDeletion,
  deletedPaste,
  expire,
  newPaste,
  processedPaste,
  settle,
  sha256,
} from './support/pastes.ts';
import { newUser } from './support/users.ts';

const bed = useApi();
let proxy: FaultProxy;
beforeAll(async () => {
  proxy = await FaultProxy.start(bed.stack.aws.endpoint);
});
afterEach(() => proxy.clear());
afterAll(() => proxy.stop());

const start = (env: Record<string, string> = {}) =>
  bed.start({ env: { AWS_ENDPOINT_URL_S3: proxy.url, ...env } });

const read = (api: RunningApi, code: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${api.url}/${code}`, { headers });

/** How often the object of this paste was requested from S3. */
const requestsFor = (code: string) => proxy.matching({ method: 'GET', path: new RegExp(code) }).length;

describe('content that was read before', () => {
  it('is served without a request to S3, and its row is read each time', async () => {
    const api = await start();
    const code = await processedPaste(bed, 'the content');
    expect(await (await read(api, code)).text()).toBe('the content');
    const statements = api.statements.length;
    for (let n = 0; n < 3; n += 1) {
      const response = await read(api, code);
      expect(response.headers.get('content-length')).toBe('11');
      expect(await response.text()).toBe('the content');
    }
    expect(api.statements).toHaveLength(statements + 3);
    expect(requestsFor(code)).toBe(1);
    const outcomes = ['hit', 'miss'].map((outcome) =>
      metricOf(api, 'content_cache_reads_total', { outcome }),
    );
    expect(await Promise.all(outcomes)).toEqual([3, 1]);
    expect(await metricOf(api, 'content_cache_bytes', { kind: 'used' })).toBe(11 + 2048);
  });

  it('is served in parts, and in a page', async () => {
    const api = await start();
    const code = await processedPaste(bed, '0123456789');
    await (await read(api, code)).text();
    const part = await read(api, code, { range: 'bytes=2-4' });
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
      206,
      'bytes 2-4/10',
      '234',
    ]);
    expect(await (await read(api, code, { accept: 'text/html' })).text()).toContain('0123456789');
    expect(await (await read(api, code)).text()).toBe('0123456789');
    expect(requestsFor(code)).toBe(1);
  });

  it('is not kept after a read of a part', async () => {
    const api = await start();
    const code = await processedPaste(bed, '0123456789');
    for (const range of ['bytes=0-0', 'bytes=0-9'])
      expect((await read(api, code, { range })).status).toBe(206);
    expect(await (await read(api, code)).text()).toBe('0123456789');
    expect(requestsFor(code)).toBe(3);
  });

  it('is requested again when it has more than 256 KiB, and with CONTENT_CACHE_BYTES=0', async () => {
    const api = await start();
    const large = await processedPaste(bed, Buffer.alloc(256 * 1024 + 1, 'x'));
    const none = await start({ CONTENT_CACHE_BYTES: '0' });
    const small = await processedPaste(bed, 'x');
    for (let n = 0; n < 2; n += 1) {
      expect((await (await read(api, large)).arrayBuffer()).byteLength).toBe(256 * 1024 + 1);
      expect(await (await read(none, small)).text()).toBe('x');
    }
    expect([requestsFor(large), requestsFor(small)]).toEqual([2, 2]);
  });

  it('is served while S3 is down', async () => {
    const api = await start();
    const code = await processedPaste(bed, 'the content');
    await (await read(api, code)).text();
    proxy.rule({}, { kind: 'fail', status: 500 });
    expect(await (await read(api, code)).text()).toBe('the content');
  });

  it('is never shared with another paste of the same content', async () => {
    const api = await start();
    const [one, two] = [await processedPaste(bed, 'same'), await processedPaste(bed, 'same')];
    for (const code of [one, two]) expect(await (await read(api, code)).text()).toBe('same');
    expect([requestsFor(one), requestsFor(two)]).toEqual([1, 1]);
  });
});

describe('the row decides', () => {
  it.each([
    ['expired', (code: string) => expire(bed.db, code)],
    ['claimed', (code: string) => claimForDeletion(bed.db, code)],
    ['deleted', (code: string) => deletedPaste(bed.db, code)],
  ])('content in the cache is 410 when its paste is %s', async (_, end) => {
    const api = await start();
    const code = await processedPaste(bed, 'the content');
    await (await read(api, code)).text();
    await end(code);
    for (const headers of [{}, { range: 'bytes=0-0' }, { accept: 'text/html' }])
      expect((await read(api, code, headers)).status).toBe(410);
  });

  it('content of a private paste is served to its owner alone', async () => {
    const api = await start();
    const owner = await newUser(bed.db);
    const code = await processedPaste(bed, 'secret', { userId: owner.id, visibility: 'private' });
    for (let n = 0; n < 2; n += 1) expect(await (await read(api, code, owner.headers)).text()).toBe('secret');
    expect(requestsFor(code)).toBe(1);
    const stranger = await newUser(bed.db);
    for (const headers of [{}, stranger.headers])
      expect(await problemOf(await read(api, code, headers))).toMatchObject({ status: 404 });
  });

  it('no read that begins after the deletion gets the content, however many run', async () => {
    const api = await start();
    const code = await processedPaste(bed, 'the content');
    await (await read(api, code)).text();
    let isDeleted = false;
    const late: number[] = [];
    const early: number[] = [];
    const reader = async () => {
      while (late.length < 40) {
        const statuses = isDeleted ? late : early;
        const response = await read(api, code);
        await response.arrayBuffer();
        statuses.push(response.status);
      }
    };
    const readers = Array.from({ length: 8 }, reader);
    while (early.length < 40) await new Promise(setImmediate);
    const deleted = await fetch(`${api.url}/v1/pastes/${code}`, {
      method: 'DELETE',
      headers: { 'delete-token': 'the token' },
    });
    isDeleted = true;
    await Promise.all(readers);
    expect(deleted.status).toBe(204);
    expect(new Set(late)).toEqual(new Set([410]));
    expect(early).toContain(200);
  });

  it('content that arrives from S3 after the deletion is not served by the next read', async () => {
    const api = await start();
    const code = await processedPaste(bed, 'the content');
    const held = proxy.hold({ method: 'GET' });
    const reading = read(api, code);
    const request = await held;
    await expire(bed.db, code);
    await request.forward();
    expect(await (await reading).text()).toBe('the content'); // its row was read before the end
    expect((await read(api, code)).status).toBe(410);
  });
});

describe('an object that does not match the hash of its paste', () => {
  it('is answered 503 each time, and never kept', async () => {
    const api = await start();
    const code = await newPaste(bed.db, 'right');
    await bed.store.put(objectKeyOf(code), Buffer.from('wrong'), { sha256: sha256('wrong') });
    await settle(bed.db, code, bed.store.urlOf(objectKeyOf(code)));
    for (let n = 0; n < 2; n += 1)
      expect(await problemOf(await read(api, code))).toMatchObject({
        status: 503,
        code: 'dependency_unavailable',
      });
    await bed.store.put(objectKeyOf(code), Buffer.from('right'), { sha256: sha256('right') });
    expect(await (await read(api, code)).text()).toBe('right');
    expect(JSON.stringify(api.logs)).toContain('Restore the object from a backup');
  });
});

describe('the memory of the cache', () => {
  const paste = (n: number, bytes: number) => ({
    short_code: `paste${n}`,
    content_hash: `sha256:${n}`,
    size_bytes: bytes,
  });
  const plain = (bytes: Buffer) => ({ bytes, encoding: null });

  it('is limited: the content that was read longest ago goes first', () => {
    const cache = new ContentCache({ maxBytes: 30_000, metrics: new Metrics('api', { process: false }) });
    for (const n of [1, 2, 3]) cache.add(paste(n, 6000), plain(Buffer.alloc(6000, n)));
    expect(cache.get(paste(1, 6000))?.bytes[0]).toBe(1);
    cache.add(paste(4, 6000), plain(Buffer.alloc(6000, 4)));
    const kept = [1, 2, 3, 4].filter((n) => cache.get(paste(n, 6000)) !== undefined);
    expect(kept).toEqual([1, 3, 4]);
  });

  it('counts a kibibyte or more for the smallest content, so that many of them stay within the limit', () => {
    const cache = new ContentCache({ maxBytes: 20_480, metrics: new Metrics('api', { process: false }) });
    for (let n = 0; n < 100; n += 1) cache.add(paste(n, 1), plain(Buffer.alloc(1)));
    const kept = Array.from({ length: 100 }, (_, n) => n).filter((n) => cache.get(paste(n, 1)) !== undefined);
    expect(kept.length).toBeLessThanOrEqual(20);
    expect(kept).toContain(99);
  });

  it('leaves out content that is larger than the limit', () => {
    const cache = new ContentCache({ maxBytes: 1000, metrics: new Metrics('api', { process: false }) });
    cache.add(paste(1, 2000), plain(Buffer.alloc(2000)));
    expect(cache.get(paste(1, 2000))).toBeUndefined();
  });
});
