import { beforeAll, describe, expect, it } from '@jest/globals';
import { objectKeyOf } from '@pasteflow/domain';
import { FaultProxy } from '@pasteflow/dev-stack/testing';
import { useApi } from './support/api.ts';
import { postRaw, problemOf } from './support/http.ts';
import {
  claimForDeletion,
  deletedPaste,
  expire,
  failedPaste,
  newPaste,
  processedPaste,
  sha256,
  upload,
} from './support/pastes.ts';
import { rawGet, type UndecodedAnswer } from './support/raw-get.ts';

const bed = useApi();
const CONTENT = '0123456789';
let shortCode = '';
let etag = '';

beforeAll(async () => {
  shortCode = await processedPaste(bed, CONTENT);
  etag = `"${sha256(CONTENT).toString('hex')}"`;
});

const get = (
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
  url = bed.api.url,
): Promise<UndecodedAnswer> => rawGet(url + path, headers, method);

describe.each(['/CODE', '/v1/pastes/CODE/content'])('GET %s', (route) => {
  const pathOf = (code: string) => route.replace('CODE', code);

  it.each([
    ['one byte', Buffer.from('x')],
    ['NUL and invalid UTF-8', Buffer.from([0, 0xff, 0xc0, 0, 10, 13])],
    ['the inline limit', Buffer.alloc(45_056, 'ä')],
    ['more than the inline limit', Buffer.alloc(45_057, 'y')],
    ['10 MiB', Buffer.alloc(10_485_760, 'pasteflow\n')],
  ])('serves exactly the bytes: %s', async (_name, content) => {
    const created = (await (await postRaw(bed.api.url, content)).json()) as { short_code: string };
    await upload(bed.db, bed.store, created.short_code, content);
    const answer = await get(pathOf(created.short_code));
    expect(answer.status).toBe(200);
    expect(answer.headers['content-length']).toBe(String(content.length));
    expect(answer.headers.etag).toBe(`"${sha256(content).toString('hex')}"`);
    expect(answer.body.equals(content)).toBe(true);
  });

  it('serves plain text that a browser neither runs nor embeds, and that is revalidated each time', async () => {
    const { headers } = await get(pathOf(shortCode));
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'private, no-cache, no-transform',
      'accept-ranges': 'bytes',
    });
  });

  it('runs one statement', async () => {
    const before = bed.api.statements.length;
    await get(pathOf(shortCode));
    await get(pathOf('doesNotExist'));
    expect(bed.api.statements).toHaveLength(before + 2);
  });

  it('ignores the query, because links get tracking parameters', async () => {
    expect((await get(`${pathOf(shortCode)}?utm_source=x&%zz`)).status).toBe(200);
  });

  it('answers HEAD like GET, without the body', async () => {
    const { headers: ofGet } = await get(pathOf(shortCode));
    const { status, headers, body } = await get(pathOf(shortCode), { Range: 'bytes=0-1' }, 'HEAD');
    expect({ status, body: body.length }).toEqual({ status: 200, body: 0 });
    const volatile = { date: '', 'x-request-id': '', ratelimit: '' };
    expect({ ...headers, ...volatile }).toEqual({ ...ofGet, ...volatile });
  });

  it('answers 503 for IN_PROGRESS, with Retry-After in whole seconds and an empty body', async () => {
    const inProgress = await newPaste(bed.db);
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, body } = await get(pathOf(inProgress), {}, method);
      expect({ status, body: body.length }).toEqual({ status: 503, body: 0 });
      expect(headers).toMatchObject({
        'retry-after': '1',
        'content-length': '0',
        'cache-control': 'no-store',
      });
      expect(headers['content-type']).toBeUndefined();
    }
  });

  it('answers FAILED like an unknown paste: the same 404 in status, headers and body', async () => {
    const strip = ({ status, headers, body }: UndecodedAnswer, code: string) => ({
      status,
      headers: { ...headers, date: '', 'x-request-id': '', ratelimit: '' },
      body: body.toString().replaceAll(code, 'CODE'),
    });
    const failed = await failedPaste(bed.db);
    const expected = strip(await get(pathOf('neverWas00')), 'neverWas00');
    expect(expected).toMatchObject({ status: 404, body: expect.stringContaining('paste_not_found') });
    expect(strip(await get(pathOf(failed)), failed)).toEqual(expected);
    expect(strip(await get(pathOf(failed), { 'If-None-Match': '*', Range: 'bytes=0-0' }), failed)).toEqual(
      expected,
    );
    await expire(bed.db, failed);
    expect(strip(await get(pathOf(failed)), failed)).toEqual(expected);
    await claimForDeletion(bed.db, failed);
    expect(strip(await get(pathOf(failed)), failed)).toEqual(expected);
  });

  it('answers 410 for an expired, claimed or deleted paste, whatever the client has cached', async () => {
    const expiredInProgress = await newPaste(bed.db);
    await expire(bed.db, expiredInProgress);
    const expired = await processedPaste(bed, 'expired');
    await expire(bed.db, expired);
    const claimed = await processedPaste(bed, 'claimed');
    await claimForDeletion(bed.db, claimed);
    // A claimed row is never served, even if its expiry is moved.
    await bed.db.updateTable('pastes').set({ expires_at: null }).where('short_code', '=', claimed).execute();
    const deleted = await processedPaste(bed, 'deleted');
    await deletedPaste(bed.db, deleted);
    for (const code of [expiredInProgress, expired, claimed, deleted]) {
      for (const headers of [{}, { 'If-None-Match': '*' }] as Record<string, string>[]) {
        const answer = await get(pathOf(code), headers);
        expect(answer.status).toBe(410);
        expect(JSON.parse(answer.body.toString())).toMatchObject({ code: 'paste_gone' });
        expect(answer.headers.etag).toBeUndefined();
      }
    }
  });

  it('answers 404 for malformed short codes, without a statement', async () => {
    const before = bed.api.statements.length;
    for (const code of [
      'x'.repeat(10_000),
      'a-b',
      '%00',
      'ä',
      '%27;%20DROP%20TABLE%20pastes',
      'x'.repeat(33),
    ]) {
      const answer = await get(pathOf(code));
      expect({ code, status: answer.status }).toEqual({ code, status: 404 });
      expect(JSON.parse(answer.body.toString())).toMatchObject({ code: 'paste_not_found' });
    }
    expect(bed.api.statements).toHaveLength(before);
  });
});

describe('a conditional GET', () => {
  it('answers 304 to a client that has the content, without a request to S3', async () => {
    const proxy = await FaultProxy.start(bed.stack.aws.endpoint);
    const api = await bed.start({ env: { AWS_ENDPOINT_URL_S3: proxy.url } });
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*', ` "a,b" , W/${etag}`]) {
      const { status, headers, body } = await get(
        `/${shortCode}`,
        { 'If-None-Match': known },
        'GET',
        api.url,
      );
      expect({ known, status, body: body.length }).toEqual({ known, status: 304, body: 0 });
      expect(headers).toMatchObject({ etag, 'cache-control': 'private, no-cache, no-transform' });
    }
    expect((await get(`/${shortCode}`, { 'If-None-Match': etag }, 'HEAD', api.url)).status).toBe(304);
    expect(proxy.requests).toEqual([]);
    await proxy.stop();
  });

  it('answers 200 to a client that has other content', async () => {
    for (const other of ['"other"', etag.slice(0, -2), 'garbage', '']) {
      expect((await get(`/${shortCode}`, { 'If-None-Match': other })).status).toBe(200);
    }
  });

  it('evaluates If-Match by strong comparison, before If-None-Match', async () => {
    for (const match of [etag, `"other", ${etag}`, '*']) {
      expect((await get(`/${shortCode}`, { 'If-Match': match })).status).toBe(200);
    }
    for (const match of ['"other"', `W/${etag}`]) {
      const answer = await get(`/${shortCode}`, { 'If-Match': match, 'If-None-Match': etag });
      expect(answer.status).toBe(412);
      expect(JSON.parse(answer.body.toString())).toMatchObject({ code: 'precondition_failed' });
    }
  });
});

describe('a Range', () => {
  it.each([
    ['bytes=0-0', '0', '0-0'],
    ['bytes=2-4', '234', '2-4'],
    ['bytes=7-', '789', '7-9'],
    ['bytes=7-99999999999999999999', '789', '7-9'],
    ['bytes=-3', '789', '7-9'],
    ['bytes=-99', CONTENT, '0-9'],
    ['Bytes = 0-1', '01', '0-1'],
  ])('%s gets that part', async (range, part, contentRange) => {
    const { status, headers, body } = await get(`/${shortCode}`, { Range: range });
    expect({ status, body: body.toString() }).toEqual({ status: 206, body: part });
    expect(headers).toMatchObject({
      'content-range': `bytes ${contentRange}/10`,
      'content-length': String(part.length),
      etag,
    });
  });

  it.each(['bytes=0-1,4-5', 'bytes=5-2', 'bytes=-', 'bytes=x-1', 'lines=0-1', 'bytes 0-1', ''])(
    '%p is ignored',
    async (range) => {
      const { status, body } = await get(`/${shortCode}`, { Range: range });
      expect({ status, body: body.toString() }).toEqual({ status: 200, body: CONTENT });
    },
  );

  it.each(['bytes=10-', 'bytes=10-20', 'bytes=99999999999999999999-', 'bytes=-0'])(
    '%s is refused',
    async (range) => {
      const { status, headers, body } = await get(`/${shortCode}`, { Range: range });
      expect(status).toBe(416);
      expect(headers['content-range']).toBe('bytes */10');
      expect(JSON.parse(body.toString())).toMatchObject({ code: 'range_not_satisfiable' });
    },
  );

  it('applies only with the ETag that If-Range names', async () => {
    const ranged = async (ifRange: string) =>
      (await get(`/${shortCode}`, { Range: 'bytes=0-1', 'If-Range': ifRange })).status;
    expect(await ranged(etag)).toBe(206);
    for (const other of ['"other"', `W/${etag}`, 'Sat, 21 Nov 2026 00:00:00 GMT'])
      expect(await ranged(other)).toBe(200);
  });
});

describe('a PROCESSED paste without an object', () => {
  it('is answered 503 and logged as an error', async () => {
    const api = await bed.start();
    const code = await processedPaste(bed, 'lost');
    await bed.store.deleteMany([objectKeyOf(code)]);
    const response = await fetch(`${api.url}/${code}`);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await problemOf(response)).toMatchObject({ status: 503, code: 'dependency_unavailable' });
    expect(api.logs).toContainEqual(
      expect.objectContaining({
        level: 'error',
        message: 'PROCESSED paste has no object in S3',
        short_code: code,
      }),
    );
  });

  it('is also answered 503 when the object has another length', async () => {
    const code = await processedPaste(bed, 'as it was');
    await bed.store.put(objectKeyOf(code), Buffer.from('longer than it was'), {
      sha256: sha256('longer than it was'),
    });
    expect((await fetch(`${bed.api.url}/${code}`)).status).toBe(503);
  });

  it('is answered 410 when it was deleted between the statement and the request to S3', async () => {
    const proxy = await FaultProxy.start(bed.stack.aws.endpoint);
    const api = await bed.start({ env: { AWS_ENDPOINT_URL_S3: proxy.url } });
    const code = await processedPaste(bed, 'on its way out');
    const held = proxy.hold({ method: 'GET' });
    const answer = fetch(`${api.url}/${code}`);
    const request = await held;
    await claimForDeletion(bed.db, code);
    await bed.store.deleteMany([objectKeyOf(code)]);
    await request.forward();
    expect(await problemOf(await answer)).toMatchObject({ status: 410 });
    expect(api.logs.filter(({ level }) => level === 'error')).toEqual([]);
    await proxy.stop();
  });
});
