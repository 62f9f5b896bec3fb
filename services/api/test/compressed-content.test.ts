import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.ts';
import { compressibleContent, rawGet } from './support/raw-get.ts';
import { compressedPaste, expire, processedPaste } from './support/pastes.ts';

const gzipped = { 'accept-encoding': 'gzip' };

const tagOf = (content: Buffer): string => `"${createHash('sha256').update(content).digest('hex')}"`;
const gzipTagOf = (content: Buffer): string => tagOf(content).replace(/"$/, '-gzip"');

/** Around the sizes up to which content travels inline, and is read as a whole. */
const sizes = [600, 2048, 45_057, 262_144, 262_145, 1_000_000];

// A second read comes from the cache, where there is one.
describe.each([
  ['with a cache', {}, 2],
  ['without a cache', { CONTENT_CACHE_BYTES: '0' }, 1],
])('%s', (_name, env: Record<string, string>, rounds) => {
  // One api for all its tests: to start one takes 60 ms of CPU time.
  const bed = useApi({ env });
  const get = (code: string, headers: Record<string, string> = {}, method = 'GET') =>
    rawGet(`${bed.api.url}/${code}`, headers, method);

  describe('content that is stored compressed', () => {
    it.each(sizes)('of %i bytes is sent byte for byte, whatever the client accepts', async (bytes) => {
      const content = compressibleContent(bytes);
      const stored = gzipSync(content);
      expect(gunzipSync(stored).equals(content)).toBe(true);
      const code = await compressedPaste(bed, content);
      for (let round = 0; round < rounds; round += 1) {
        for (const accepted of [
          undefined,
          'identity',
          'gzip;q=0',
          '*',
          '*;q=0',
          'zstd, br',
          'gzip;q=2',
          ';;,q',
          '',
        ]) {
          const answer = await get(code, accepted === undefined ? {} : { 'accept-encoding': accepted });
          expect({ accepted, ...answer }).toMatchObject({
            status: 200,
            isCut: false,
            headers: { 'content-length': String(bytes), etag: tagOf(content) },
          });
          expect(answer.headers).toMatchObject({ vary: expect.stringMatching(/\bAccept-Encoding\b/) });
          expect(answer.headers).not.toHaveProperty('content-encoding');
          expect(answer.body.equals(content)).toBe(true);
        }
        for (const accepted of [
          'gzip',
          'GZIP',
          'br, gzip;q=0.1',
          'deflate, gzip, br, zstd',
          'identity;q=0.5, gzip',
        ]) {
          const answer = await get(code, { 'accept-encoding': accepted });
          expect({ accepted, ...answer }).toMatchObject({
            status: 200,
            isCut: false,
            headers: {
              'content-encoding': 'gzip',
              'content-length': String(answer.body.length),
              etag: gzipTagOf(content),
              vary: expect.stringMatching(/\bAccept-Encoding\b/),
            },
          });
          expect(answer.body.equals(stored)).toBe(true); // the bytes of the object: nothing was compressed anew
        }
      }
    });

    it.each(sizes)(
      'of %i bytes is served in parts of the content, also to clients that accept gzip',
      async (bytes) => {
        const content = compressibleContent(bytes);
        const code = await compressedPaste(bed, content);
        const ranges = [
          ['bytes=0-0', 0, 0],
          ['bytes=100-499', 100, 499],
          [`bytes=${bytes - 10}-`, bytes - 10, bytes - 1],
          ['bytes=-1', bytes - 1, bytes - 1],
          ['bytes=5-', 5, bytes - 1],
        ] as const;
        for (const [range, start, end] of ranges) {
          const { status, headers, body } = await get(code, { range, ...gzipped });
          expect({ status, headers }).toMatchObject({
            status: 206,
            headers: {
              'content-range': `bytes ${start}-${end}/${bytes}`,
              'content-length': String(end - start + 1),
              etag: tagOf(content),
              vary: expect.stringMatching(/\bAccept-Encoding\b/),
            },
          });
          expect(headers).not.toHaveProperty('content-encoding');
          expect(body.equals(content.subarray(start, end + 1))).toBe(true);
        }
        expect(await get(code, { range: `bytes=${bytes}-`, ...gzipped })).toMatchObject({
          status: 416,
          headers: { 'content-range': `bytes */${bytes}` },
        });
      },
    );

    it('is never continued in another form: a part needs the entity tag of the content', async () => {
      const content = compressibleContent(5000);
      const code = await compressedPaste(bed, content);
      const part = { range: 'bytes=10-', ...gzipped };
      expect((await get(code, { ...part, 'if-range': tagOf(content) })).status).toBe(206);
      const whole = await get(code, { ...part, 'if-range': gzipTagOf(content) });
      expect([whole.status, whole.body.equals(content)]).toEqual([200, true]);
      expect((await get(code, { ...part, 'if-match': tagOf(content) })).status).toBe(206);
      expect((await get(code, { ...part, 'if-match': gzipTagOf(content) })).status).toBe(412);
    });

    it('is 304 to a client that has a form that it accepts, with the entity tag of that form', async () => {
      const content = compressibleContent(5000);
      const code = await compressedPaste(bed, content);
      const [plain, compressed] = [tagOf(content), gzipTagOf(content)];
      const cases: [headers: Record<string, string>, status: number, etag: string][] = [
        [{ 'if-none-match': plain }, 304, plain],
        [{ 'if-none-match': compressed }, 200, plain],
        [{ 'if-none-match': plain, ...gzipped }, 304, plain],
        [{ 'if-none-match': compressed, ...gzipped }, 304, compressed],
        [{ 'if-none-match': `W/${compressed}`, ...gzipped }, 304, compressed],
        [{ 'if-none-match': '*', ...gzipped }, 304, compressed],
        [{ 'if-none-match': '"other"', ...gzipped }, 200, compressed],
        [{ 'if-match': plain, ...gzipped }, 200, compressed],
        [{ 'if-match': compressed, ...gzipped }, 200, compressed],
      ];
      for (const [headers, status, etag] of cases) {
        for (const method of ['GET', 'HEAD']) {
          const answer = await get(code, headers, method);
          expect({ headers, status: answer.status, etag: answer.headers.etag }).toEqual({
            headers,
            status,
            etag,
          });
          expect(answer.headers.vary).toMatch(/\bAccept-Encoding\b/);
        }
      }
      expect((await get(code, { 'if-match': compressed })).status).toBe(412);
    });

    it('is described by HEAD as GET sends it', async () => {
      const code = await compressedPaste(bed, compressibleContent(5000));
      for (const headers of [{}, gzipped]) {
        const { date: _1, 'x-request-id': _2, ratelimit: _3, ...ofGet } = (await get(code, headers)).headers;
        const head = await get(code, headers, 'HEAD');
        const { date: _4, 'x-request-id': _5, ratelimit: _6, ...ofHead } = head.headers;
        expect(head.status).toBe(200);
        const expected: IncomingHttpHeaders = { ...ofGet };
        if ('content-encoding' in expected) delete expected['content-length']; // only S3 knows
        expect(ofHead).toEqual(expected);
      }
    });

    it('is shown in a page, whose form does not depend on it', async () => {
      for (const bytes of [1000, 300_000]) {
        const content = compressibleContent(bytes);
        const code = await compressedPaste(bed, content);
        const { status, headers, body } = await get(code, { accept: 'text/html', ...gzipped });
        expect(status).toBe(200);
        expect(headers).toHaveProperty('content-encoding', 'gzip');
        const page = gunzipSync(body);
        for (const piece of [content.subarray(0, 100), content.subarray(-100)])
          expect(page.includes(piece)).toBe(true);
      }
    });

    it('is 410 once it has expired, whatever the client accepts', async () => {
      const code = await compressedPaste(bed, compressibleContent(1000));
      await get(code);
      await expire(bed.db, code);
      for (const headers of [{}, gzipped, { range: 'bytes=0-1' }])
        expect((await get(code, headers)).status).toBe(410);
    });
  });

  describe('content that is stored as it is', () => {
    it('is sent as it is to a client that accepts gzip', async () => {
      const content = compressibleContent(5000);
      const code = await processedPaste(bed, content);
      const { headers, body } = await get(code, gzipped);
      expect(headers).toMatchObject({ 'content-length': '5000', etag: tagOf(content) });
      expect(headers).not.toHaveProperty('content-encoding');
      expect(body.equals(content)).toBe(true);
      expect((await get(code, { 'if-none-match': gzipTagOf(content), ...gzipped })).status).toBe(200);
    });
  });
});
