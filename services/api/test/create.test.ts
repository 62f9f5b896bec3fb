import { describe, expect, it } from '@jest/globals';
import { INLINE_CONTENT_BYTES } from '@pasteflow/domain';
import { readPayload } from '@pasteflow/postgres';
import { useApi } from './support/api.ts';
import { postJson, postRaw, problemOf } from './support/http.ts';
import { countPastes, pasteRow, sha256 } from './support/pastes.ts';
import { until } from './support/until.ts';

interface PasteBody {
  readonly short_code: string;
  readonly delete_token: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly [field: string]: unknown;
}

const bed = useApi();

async function created(response: Response): Promise<PasteBody> {
  const body = (await response.json()) as PasteBody;
  expect({ status: response.status, ...(response.status !== 201 && { body }) }).toEqual({ status: 201 });
  return body;
}

async function storedContent(shortCode: string): Promise<Buffer | null> {
  return await readPayload(bed.db, (await pasteRow(bed.db, shortCode))!.id);
}

describe('creating a paste', () => {
  it('answers 201 with the whole paste, its URL and its delete token', async () => {
    const response = await postJson(bed.api.url, {
      content: 'hällo',
      title: 'Ä title',
      syntax: 'c++',
      expires_in: 3600,
    });
    const paste = await created(response);
    const row = (await pasteRow(bed.db, paste.short_code))!;
    expect(paste).toEqual({
      short_code: expect.stringMatching(/^[0-9A-Za-z]{10}$/),
      url: `${bed.api.url}/${paste.short_code}`,
      content_url: `${bed.api.url}/v1/pastes/${paste.short_code}/content`,
      status: 'IN_PROGRESS',
      deletion_status: 'NOT_EXPIRED',
      visibility: 'unlisted',
      burn: false,
      slug: null,
      version: null,
      parent: null,
      supersedes: null,
      superseded_by: null,
      files: null,
      held_at: null,
      title: 'Ä title',
      syntax: 'c++',
      encrypted: false,
      content_hash: `sha256:${sha256('hällo').toString('hex')}`,
      size_bytes: 6,
      created_at: row.created_at.toISOString(),
      expires_at: new Date(row.created_at.getTime() + 3_600_000).toISOString(),
      processed_at: null,
      read_at: null,
      failure_class: null,
      failure_reason: null,
      delete_token: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(response.headers.get('location')).toBe(paste.url);
    expect(await storedContent(paste.short_code)).toEqual(Buffer.from('hällo'));
  });

  it('stores only the SHA-256 of the delete token', async () => {
    const paste = await created(await postJson(bed.api.url, { content: 'x' }));
    const row = (await pasteRow(bed.db, paste.short_code))!;
    expect(row.delete_token_hash).toEqual(sha256(paste.delete_token));
    expect(JSON.stringify(bed.api.logs)).not.toContain(paste.delete_token);
  });

  it('keeps a paste for 30 days by default, or forever', async () => {
    const lifetimeOf = async (body: object) => {
      const { created_at, expires_at } = await created(
        await postJson(bed.api.url, { content: 'x', ...body }),
      );
      return expires_at === null ? null : (Date.parse(expires_at) - Date.parse(created_at)) / 1000;
    };
    expect(await lifetimeOf({})).toBe(2_592_000);
    expect(await lifetimeOf({ expires_in: 'never' })).toBeNull();
    expect(await lifetimeOf({ expires_in: '1m' })).toBe(60);
    expect(await lifetimeOf({ expires_in: 31_536_000 })).toBe(31_536_000);
  });

  it('accepts a title of 200 characters of any size, and treats null and an empty text as no title', async () => {
    expect(
      (await created(await postJson(bed.api.url, { content: 'x', title: '😀'.repeat(200) }))).title,
    ).toHaveLength(400);
    expect(
      await created(await postJson(bed.api.url, { content: 'x', title: null, syntax: '' })),
    ).toMatchObject({
      title: null,
      syntax: null,
    });
  });

  it('stores a raw body byte for byte, with the options in the query', async () => {
    const bytes = Buffer.from([0, 0xff, 0xfe, 0x80, 13, 10, 0]);
    const paste = await created(await postRaw(bed.api.url, bytes, '?title=a+b%20c&syntax=Py&expires_in=2m&'));
    expect(paste).toMatchObject({ title: 'a b c', syntax: 'Py', size_bytes: 7 });
    expect(await storedContent(paste.short_code)).toEqual(bytes);
  });

  it.each([
    ['no content type', undefined],
    ['text/plain in another charset', 'text/plain; charset=iso-8859-1'],
    ['what curl --data-binary says', 'application/x-www-form-urlencoded'],
    ['another JSON type', 'application/ld+json'],
    ['another multipart type', 'multipart/mixed; boundary=x'],
    ['no type at all', 'garbage;;='],
  ])('treats a body with %s as raw', async (_name, type) => {
    const body = new Blob([Buffer.from('a=%00&b+c')]); // fetch sends no Content-Type for a Blob without a type
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    const paste = await created(await fetch(`${bed.api.url}/v1/pastes`, { method: 'POST', headers, body }));
    expect(await storedContent(paste.short_code)).toEqual(Buffer.from('a=%00&b+c'));
  });

  it('accepts JSON with any escapes, with a byte order mark and with a charset', async () => {
    const body = '\ufeff{"content": "\\u0000\\u00e4\\ud83d\\ude00\\n"}';
    const paste = await created(
      await postJson(bed.api.url, body, { 'content-type': 'Application/JSON ; Charset="UTF-8"' }),
    );
    expect(await storedContent(paste.short_code)).toEqual(Buffer.from('\0ä😀\n'));
  });

  it('inserts a paste with one statement, and runs no other before the 201', async () => {
    for (const post of [
      () => postRaw(bed.api.url, 'counted'),
      () => postJson(bed.api.url, { content: 'counted' }),
    ]) {
      const before = bed.api.statements.length;
      await created(await post());
      expect(bed.api.statements.slice(before)).toEqual([expect.stringContaining('INSERT INTO pastes')]);
    }
  });

  it('tries another short code when one is taken, also for ten concurrent requests', async () => {
    const codes = [
      ...Array<string>(10).fill('takenTaken'),
      ...Array.from({ length: 20 }, (_, i) => `free${i}`),
    ];
    const api = await bed.start({ newShortCode: () => codes.shift()! });
    const pastes = await Promise.all(
      Array.from({ length: 10 }, async (_, i) => await created(await postRaw(api.url, `content ${i}`))),
    );
    expect(new Set(pastes.map(({ short_code }) => short_code)).size).toBe(10);
    expect(pastes.filter(({ short_code }) => short_code === 'takenTaken')).toHaveLength(1);
    for (const [i, { short_code }] of pastes.entries()) {
      expect(await storedContent(short_code)).toEqual(Buffer.from(`content ${i}`));
    }
  });

  it('answers 503 when every short code is taken', async () => {
    const api = await bed.start({ newShortCode: () => 'always' });
    await created(await postRaw(api.url, 'first'));
    const before = await countPastes(bed.db);
    const response = await postRaw(api.url, 'second');
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await problemOf(response)).toMatchObject({ status: 503, code: 'short_code_taken' });
    expect(await countPastes(bed.db)).toBe(before);
  });

  it('builds its URLs from PUBLIC_URL', async () => {
    const api = await bed.start({ env: { PUBLIC_URL: 'https://paste.example.org/p/' } });
    const paste = await created(await postRaw(api.url, 'x'));
    expect(paste.url).toBe(`https://paste.example.org/p/${paste.short_code}`);
  });
});

describe('creating a paste by multipart/form-data', () => {
  const post = (form: FormData, path = '/v1/pastes') =>
    fetch(bed.api.url + path, { method: 'POST', body: form });
  const bytes = Buffer.from([0xff, 0, 13, 10, 0x80]);

  function form(parts: Record<string, string | Buffer<ArrayBuffer>>): FormData {
    const data = new FormData();
    for (const [name, value] of Object.entries(parts)) {
      if (typeof value === 'string') data.append(name, value);
      else data.append(name, new Blob([value]), 'file.bin');
    }
    return data;
  }

  it('reads the field content and the options beside it', async () => {
    const paste = await created(
      await post(form({ title: 'T', content: 'text ä', syntax: 'md', expires_in: 'never' })),
    );
    expect(paste).toMatchObject({ title: 'T', syntax: 'md', expires_at: null });
    expect(await storedContent(paste.short_code)).toEqual(Buffer.from('text ä'));
  });

  it('stores the file content byte for byte', async () => {
    const paste = await created(await post(form({ content: bytes, expires_in: '60' })));
    expect(await storedContent(paste.short_code)).toEqual(bytes);
  });

  it('stores a field content that is not UTF-8 byte for byte', async () => {
    const body = Buffer.concat([
      Buffer.from('--b\r\nContent-Disposition: form-data; name="content"\r\n\r\n'),
      bytes,
      Buffer.from('\r\n--b--\r\n'),
    ]);
    const headers = { 'content-type': 'multipart/form-data; boundary="b"' };
    const paste = await created(await fetch(`${bed.api.url}/v1/pastes`, { method: 'POST', headers, body }));
    expect(await storedContent(paste.short_code)).toEqual(bytes);
  });

  it('takes the file when nothing is named content, and refuses a file beside content', async () => {
    const file = await created(await post(form({ a: Buffer.from('one') })));
    expect(await storedContent(file.short_code)).toEqual(Buffer.from('one'));
    const both = await post(form({ a: Buffer.from('one'), content: 'two' }));
    expect(await problemOf(both)).toMatchObject({ status: 422, code: 'validation_failed' });
  });
});

describe('POST / for the shell', () => {
  it('answers with the URL and a newline, and the delete token in a header', async () => {
    const response = await fetch(bed.api.url, { method: 'POST', body: Buffer.from('piped\n') });
    const url = await response.text();
    expect(response.status).toBe(201);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('location')).toBe(url.trim());
    expect(url).toMatch(new RegExp(`^${bed.api.url}/[0-9A-Za-z]{10}\n$`));
    const shortCode = new URL(url.trim()).pathname.slice(1);
    expect((await pasteRow(bed.db, shortCode))!.delete_token_hash).toEqual(
      sha256(response.headers.get('delete-token')!),
    );
    expect(await storedContent(shortCode)).toEqual(Buffer.from('piped\n'));
  });

  it('stores JSON as it is, and accepts options in the query and forms', async () => {
    const headers = { 'content-type': 'application/json' };
    const json = await fetch(`${bed.api.url}/?title=T`, { method: 'POST', headers, body: '{"content": ' });
    const jsonCode = new URL((await json.text()).trim()).pathname.slice(1);
    expect(await storedContent(jsonCode)).toEqual(Buffer.from('{"content": '));
    expect(await pasteRow(bed.db, jsonCode)).toMatchObject({ title: 'T' });

    const body = new FormData();
    body.append('f', new Blob(['formed']), 'f.txt');
    const form = await fetch(bed.api.url, { method: 'POST', body });
    expect(await storedContent(new URL((await form.text()).trim()).pathname.slice(1))).toEqual(
      Buffer.from('formed'),
    );
  });
});

describe('dispatching the upload', () => {
  it('stamps the execution when the message was sent', async () => {
    const paste = await created(await postRaw(bed.api.url, 'to be sent'));
    const row = (await pasteRow(bed.db, paste.short_code))!;
    const executions = bed.db.selectFrom('task_executions').selectAll().where('subject_id', '=', row.id);
    const execution = () => executions.executeTakeFirstOrThrow();
    expect(await until(execution, ({ dispatched_at }) => dispatched_at !== null)).toMatchObject({
      status: 'PENDING',
      attempt: 1,
    });
  });

  it('sends content up to the inline limit, no larger content, none where messages may have none, and always the request id and the trace', async () => {
    const { FaultProxy } = await import('@pasteflow/dev-stack/testing');
    const proxy = await FaultProxy.start(bed.stack.aws.endpoint);
    const start = (MESSAGE_CONTENT: string) =>
      bed.start({ env: { AWS_ENDPOINT_URL_SQS: proxy.url, MESSAGE_CONTENT } });
    const [api, withoutContent] = [await start('on'), await start('off')];
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const send = async (size: number, { url } = api) => {
      const already = proxy.matching({ target: 'SendMessageBatch' }).length;
      const headers = { 'x-request-id': `size-${size}`, traceparent };
      const init = { method: 'POST', headers, body: Buffer.alloc(size, 'x') };
      await created(await fetch(`${url}/v1/pastes`, init));
      const sent = await until(
        () => proxy.matching({ target: 'SendMessageBatch' }).slice(already)[0],
        (request) => request?.body !== undefined,
      );
      const [entry] = (JSON.parse(sent!.body!.toString()) as { Entries: SentEntry[] }).Entries;
      return entry!;
    };
    const inline = await send(INLINE_CONTENT_BYTES);
    const { contentBytes } = JSON.parse(inline.MessageBody);
    expect(Buffer.from(contentBytes, 'base64')).toHaveLength(INLINE_CONTENT_BYTES);
    for (const { MessageBody } of [await send(INLINE_CONTENT_BYTES + 1), await send(1, withoutContent)])
      expect(Object.keys(JSON.parse(MessageBody))).toEqual(['shortCode']);
    expect(inline.MessageAttributes).toMatchObject({
      requestId: { StringValue: `size-${INLINE_CONTENT_BYTES}` },
      traceparent: { StringValue: traceparent },
    });
    await proxy.stop();
  });
});

interface SentEntry {
  readonly MessageBody: string;
  readonly MessageAttributes: Readonly<Record<string, { readonly StringValue: string }>>;
}
