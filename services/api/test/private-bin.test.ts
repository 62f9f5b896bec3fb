import { describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.ts';
import { expire, failedPaste, pasteRow, processedPaste, settle, upload } from './support/pastes.ts';
import { recordedBody, storedTextOf } from './support/recorded-pastes.ts';
import { newUser } from './support/users.ts';

const bed = useApi();
const CLIENT = { 'X-Requested-With': 'JSONHttpRequest' };
const BODY = recordedBody('text');
const STORED = storedTextOf(BODY);

interface JsonAnswer {
  readonly status: number;
  readonly json: Record<string, unknown>;
  readonly text: string;
}

interface Sent {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function send(path: string, init: Sent = {}, url = bed.api.url): Promise<JsonAnswer> {
  const response = await fetch(url + path, { ...init, headers: { ...CLIENT, ...init.headers } });
  const text = await response.text();
  return { status: response.status, text, json: (text === '' ? {} : JSON.parse(text)) as JsonAnswer['json'] };
}

async function post(body: string, headers: Record<string, string> = {}): Promise<JsonAnswer> {
  return await send('/', { method: 'POST', body, headers });
}

/** A stored paste. @returns its short code and its delete token */
async function stored(body = BODY): Promise<{ id: string; deletetoken: string }> {
  const { json } = await post(body);
  const { id, deletetoken } = json as { id: string; deletetoken: string };
  await upload(bed.db, bed.store, id, storedTextOf(body));
  return { id, deletetoken };
}

describe("a client of PrivateBin's", () => {
  it('learns that the server speaks version 2', async () => {
    const { json } = await send('/?jsonld=paste');
    expect(json).toMatchObject({ '@context': { v: { '@value': 2 } } });
    expect((await send('/?jsonld=__proto__')).json).toEqual({});
    expect((await send('/?jsonld=comment')).json).toEqual({});
  });

  it('creates a paste, whose metadata say that it is encrypted and nothing of its content', async () => {
    const { status, json } = await post(BODY);
    const id = json['id'] as string;
    expect(status).toBe(200);
    expect(json).toEqual({ status: 0, id, url: `/?${id}`, deletetoken: expect.stringMatching(/^\S{20,}$/) });
    const paste = (await (await fetch(`${bed.api.url}/v1/pastes/${id}`)).json()) as Record<string, unknown>;
    expect(paste).toMatchObject({
      encrypted: true,
      title: null,
      syntax: null,
      visibility: 'unlisted',
      size_bytes: STORED.length,
    });
    const lifetime = Date.parse(paste['expires_at'] as string) - Date.parse(paste['created_at'] as string);
    expect(lifetime).toBe(86_400_000);
  });

  it('reads the paste as it was sent, its authenticated data byte for byte', async () => {
    const { id } = await stored();
    const { status, json, text } = await send(`/?${id}`);
    expect(status).toBe(200);
    expect(text).toContain(STORED.slice(1, -1));
    const { v, adata, ct } = JSON.parse(BODY) as Record<string, unknown>;
    expect(json).toEqual({
      status: 0,
      id,
      url: `/?${id}`,
      '@context': '/?jsonld=paste',
      v,
      adata,
      ct,
      meta: { time_to_live: expect.any(Number) },
      comments: [],
      comment_count: 0,
      comment_offset: 0,
    });
    const { time_to_live: seconds } = json['meta'] as { time_to_live: number };
    expect(seconds).toBeGreaterThan(86_400 - 600);
    expect(seconds).toBeLessThanOrEqual(86_400);
    expect((await send(`/?pasteid=${id}&utm_source=x`)).json).toEqual({ ...json, meta: expect.anything() });
  });

  it('reads a paste that is deleted when it is read once, and HEAD does not read it', async () => {
    const valid = JSON.parse(BODY) as { adata: unknown[] };
    const body = JSON.stringify({ ...valid, adata: valid.adata.with(3, 1) });
    const { id } = await stored(body);
    const metadata = await fetch(`${bed.api.url}/v1/pastes/${id}`);
    expect(await metadata.json()).toMatchObject({ encrypted: true, burn: true, content_hash: null });
    expect((await fetch(`${bed.api.url}/?${id}`, { method: 'HEAD', headers: CLIENT })).status).toBe(200);
    const reads = await Promise.all(Array.from({ length: 5 }, () => send(`/?${id}`)));
    expect(reads.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 410, 410, 410, 410]);
    const [first] = reads.filter(({ status }) => status === 200);
    expect(first!.text).toContain(storedTextOf(body).slice(1, -1));
    expect(await send(`/?${id}`)).toMatchObject({ status: 410, json: { status: 1 } });
  });

  it('reads a paste of several chunks, and one that never expires', async () => {
    const document = JSON.parse(recordedBody('password')) as Record<string, unknown>;
    const body = JSON.stringify({ ...document, ct: 'QUJD'.repeat(200_000) });
    const { id } = await stored(body);
    const { json } = await send(`/?${id}`);
    expect((json['ct'] as string).length).toBe(800_000);
    expect(json['meta']).toEqual({});
  });

  it('deletes the paste with its token, and with no other', async () => {
    const { id, deletetoken } = await stored();
    const wrong = await post(JSON.stringify({ pasteid: id, deletetoken: 'wrong' }));
    expect(wrong).toMatchObject({ status: 401, json: { status: 1, message: expect.any(String) } });
    expect((await send(`/?pasteid=${id}&deletetoken=${deletetoken}`)).json).toMatchObject({ status: 0 });
    expect((await send(`/?${id}`)).json['status']).toBe(0); // a GET has deleted nothing
    const deleted = await post(JSON.stringify({ pasteid: id, deletetoken }));
    expect(deleted).toMatchObject({ status: 200, json: { status: 0, id, url: `/?${id}` } });
    expect(await send(`/?${id}`)).toMatchObject({ status: 410, json: { status: 1 } });
    const again = await post(JSON.stringify({ pasteid: id, deletetoken }));
    expect(again).toMatchObject({ status: 410, json: { status: 1 } });
  });

  it('creates, reads and deletes as a user by the token of that user', async () => {
    const user = await newUser(bed.db);
    const authorization = { Authorization: `Bearer ${user.token}` };
    const { json } = await post(BODY, authorization);
    const id = json['id'] as string;
    expect((await pasteRow(bed.db, id))?.user_id).toBe(user.id);
    const deletion = JSON.stringify({ pasteid: id, deletetoken: json['deletetoken'] });
    expect(await post(deletion)).toMatchObject({ status: 401, json: { status: 1 } });
    expect(await post(deletion, authorization)).toMatchObject({ status: 200, json: { status: 0 } });
  });
});

describe('a read by a client that never tries again', () => {
  it('waits for the upload, longer than the reads of others', async () => {
    const api = await bed.start({ contentWaitMs: 0 });
    const created = await send('/', { method: 'POST', body: BODY }, api.url);
    const id = created.json['id'] as string;
    const reading = send(`/?${id}`, {}, api.url);
    await upload(bed.db, bed.store, id, STORED);
    expect(await reading).toMatchObject({ status: 200, json: { status: 0, id } });
  });

  it('is told when the upload fails meanwhile', async () => {
    const { json } = await post(BODY);
    const id = json['id'] as string;
    const reading = send(`/?${id}`);
    await settle(bed.db, id, null);
    expect(await reading).toMatchObject({ status: 404, json: { status: 1 } });
  });
});

describe('a read is refused in the form of PrivateBin', () => {
  it('of a code that is unknown, failed, expired, private, or not encrypted', async () => {
    const user = await newUser(bed.db);
    const expired = await stored();
    await expire(bed.db, expired.id);
    const plain = await processedPaste(bed, 'plain text');
    const codes: readonly (readonly [string, number, string])[] = [
      ['unknown0000', 404, 'no paste at this address'],
      [await failedPaste(bed.db), 404, 'no paste at this address'],
      [expired.id, 410, 'has expired or was deleted'],
      [await processedPaste(bed, 'x', { userId: user.id, visibility: 'private' }), 404, 'no paste'],
      [
        plain,
        400,
        `is not encrypted, so that a client of PrivateBin's can't show it. Read it at ${bed.api.url}/${plain}`,
      ],
    ];
    for (const [code, status, message] of codes)
      expect(await send(`/?${code}`)).toMatchObject({
        status,
        json: { status: 1, message: expect.stringContaining(message) },
      });
  });

  it('without a code, and by a route that PrivateBin has not', async () => {
    for (const path of ['/', '/?', '/?a-b', `/?${'a'.repeat(33)}`, '/?pasteid='])
      expect(await send(path)).toMatchObject({ status: 400, json: { status: 1 } });
    expect((await send('/', { method: 'PUT' })).status).toBe(405);
  });

  it('counts as a guess, and answers HEAD without reading', async () => {
    const api = await bed.start({ env: { RATE_LIMIT_MISSES_PER_MINUTE: '2' } });
    const { id } = await stored();
    const head = await fetch(`${api.url}/?${id}`, { method: 'HEAD', headers: CLIENT });
    expect([head.status, await head.text()]).toEqual([200, '']);
    for (const code of ['unknown0001', 'unknown0002', 'unknown0003']) await send(`/?${code}`, {}, api.url);
    expect(await send(`/?${id}`, {}, api.url)).toMatchObject({
      status: 429,
      json: { status: 1, message: expect.stringContaining('misses per minute') },
    });
  });
});

describe('a creation is refused in the form of PrivateBin', () => {
  const valid = JSON.parse(BODY) as { adata: unknown[]; meta: object };

  it.each<[string, object | string, string]>([
    ['discussions', recordedBody('discussion'), 'no discussions'],
    ['a comment', { ...valid, pasteid: 'abc', parentid: 'abc' }, 'no discussions'],
    ['another version', { ...valid, v: 1 }, 'v must be 2.'],
    ['no lifetime', { ...valid, meta: {} }, 'meta.expire must be one of 5min, 10min'],
    ['an unknown lifetime', { ...valid, meta: { expire: '2days' } }, 'meta.expire must be one of'],
    ['fields of its own', { ...valid, extra: 1 }, 'extra is not a known field'],
    ['numbers that are read differently', BODY.replace('100000', '1e5'), 'plain number'],
    ['deep nesting', `{"v":2,"adata":${'['.repeat(40)}${']'.repeat(40)}}`, 'nested at most 4 levels deep'],
    ['many values', { ...valid, adata: Array.from({ length: 1000 }, () => 0) }, 'at most 64 values'],
    ['no JSON', 'v=2', 'not valid JSON'],
    ['nothing', '', 'not valid JSON'],
    ['a deletion without a code', { deletetoken: 'x' }, 'pasteid'],
  ])('for %s', async (_, body, message) => {
    const { status, json } = await post(typeof body === 'string' ? body : JSON.stringify(body));
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(json).toEqual({ status: 1, message: expect.stringContaining(message) });
  });

  it('for too many bytes, before they are sent', async () => {
    const api = await bed.start({ env: { MAX_PASTE_BYTES: '1000' } });
    const big = JSON.stringify({ ...valid, ct: 'QUJD'.repeat(300) });
    expect(await send('/', { method: 'POST', body: big }, api.url)).toMatchObject({
      status: 413,
      json: { status: 1, message: expect.stringContaining('at most 1000 bytes') },
    });
    const huge = JSON.stringify({ ...valid, ct: 'QUJD'.repeat(3000) });
    expect((await send('/', { method: 'POST', body: huge }, api.url)).status).toBe(413);
  });

  it('for anonymous callers where they may create nothing, and for those beyond their limit', async () => {
    const closed = await bed.start({
      env: { ANONYMOUS_PASTES: 'deny', RATE_LIMIT_CREATIONS_PER_MINUTE: '0' },
    });
    const refused = await send('/', { method: 'POST', body: BODY }, closed.url);
    expect(refused).toMatchObject({ status: 401, json: { status: 1 } });
    const limited = await bed.start({ env: { RATE_LIMIT_CREATIONS_PER_MINUTE: '1' } });
    await send('/', { method: 'POST', body: BODY }, limited.url);
    expect(await send('/', { method: 'POST', body: BODY }, limited.url)).toMatchObject({
      status: 429,
      json: { status: 1, message: expect.stringContaining('creations per minute') },
    });
  });
});

describe('the same addresses for everybody else', () => {
  it('lead a browser from the link that PBinCLI prints to the page of the paste', async () => {
    const { id } = await stored();
    const browser = { headers: { Accept: 'text/html' }, redirect: 'manual' as const };
    for (const query of [`?${id}`, `?pasteid=${id}&deletetoken=secret`]) {
      const response = await fetch(`${bed.api.url}/${query}`, browser);
      expect([response.status, response.headers.get('Location')]).toEqual([302, `/${id}`]);
    }
    const elsewhere = await fetch(`${bed.api.url}/?//evil.example`, browser);
    expect(elsewhere.status).toBe(200);
  });

  it('serve the usage, and take a body of PrivateBin as a text', async () => {
    const { id } = await stored();
    expect(await (await fetch(`${bed.api.url}/?${id}`)).text()).toContain('Pasteflow stores text');
    const created = await fetch(bed.api.url, { method: 'POST', body: BODY });
    expect(created.status).toBe(201);
    const code = (await created.text()).trim().split('/').at(-1)!;
    expect((await pasteRow(bed.db, code))?.encrypted).toBe(false);
  });
});
