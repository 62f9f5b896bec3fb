import { beforeEach, describe, expect, it } from '@jest/globals';
import { openSealed, parseSealedText } from '@pasteflow/sealed';
import { unwrapKey } from '@pasteflow/sealed/wrapped-keys';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { codeOf, dial, problemOf, refusalOn } from './support/http.ts';
import { limited } from './support/limits.ts';
import { countPastes, pasteRow } from './support/pastes.ts';
import {
  deposit,
  depositsOf,
  newRequest,
  receiptOf,
  sealFor,
  someDeposit,
  type AskedFor,
} from './support/secret-requests.ts';
import { newUser, ownToken, type TestUser } from './support/users.ts';

const bed = useApi();

let asker: TestUser;
let request: AskedFor;
beforeEach(async () => {
  await sql`TRUNCATE rate_limits`.execute(bed.db);
  asker = await newUser(bed.db);
  request = await newRequest(bed.api.url, asker, { deposits: 2 });
});

describe('POST /v1/requests/:id/deposits', () => {
  it('stores a private and encrypted paste of who asks, which opens with the private key', async () => {
    const sealed = await sealFor(request, 'hunter2');
    const answer = await deposit(bed.api.url, request.id, {
      content: sealed.content,
      wrapped_key: sealed.wrapped_key,
    });
    expect(answer.status).toBe(201);
    const { receipt, ...rest } = (await answer.json()) as { receipt: string };
    expect(rest).toEqual({});
    expect(await pasteRow(bed.db, receipt)).toMatchObject({
      user_id: asker.id,
      visibility: 'private',
      encrypted: true,
      burn: false,
      title: null,
      delete_token_hash: null,
    });
    const [found, ...others] = await depositsOf(bed.api.url, request.id, asker);
    expect(others).toEqual([]);
    expect(found).toEqual({
      short_code: receipt,
      url: `${bed.api.url}/${receipt}`,
      wrapped_key: sealed.wrapped_key,
      created_at: expect.any(String),
      expires_at: expect.any(String),
      status: 'IN_PROGRESS',
      size_bytes: sealed.content.length,
      is_there: true,
    });
    const { created_at, expires_at } = found as unknown as Record<string, string>;
    const days = (Date.parse(expires_at!) - Date.parse(created_at!)) / 86_400_000;
    expect(days).toBeCloseTo(30, 3);
    const { rows } = await sql<{
      content: Buffer;
    }>`SELECT content FROM paste_payloads p JOIN pastes ON pastes.id = paste_id
      WHERE short_code = ${receipt}`.execute(bed.db);
    const key = await unwrapKey(found!.wrapped_key, request.id, request.privatePart);
    const message = await openSealed(parseSealedText(rows[0]!.content.toString()), key);
    expect(message.text).toBe('hunter2');
  });

  it('gives a receipt that opens nothing for anybody but who asks', async () => {
    const receipt = await receiptOf(await deposit(bed.api.url, request.id));
    const stranger = await newUser(bed.db);
    for (const path of [`/${receipt}`, `/v1/pastes/${receipt}`, `/v1/pastes/${receipt}/content`])
      for (const headers of [{}, stranger.headers])
        expect((await fetch(bed.api.url + path, { headers })).status).toBe(404);
    expect((await fetch(`${bed.api.url}/v1/pastes/${receipt}`, { headers: asker.headers })).status).toBe(200);
    const list = `${bed.api.url}/v1/requests/${request.id}/deposits`;
    expect(await codeOf(fetch(list))).toBe('401 unauthorized');
    expect(await codeOf(fetch(list, { headers: stranger.headers }))).toBe('404 request_not_found');
  });

  it('works without a token where pastes need one, and with a token that writes', async () => {
    const api = await bed.start({ env: { ANONYMOUS_PASTES: 'deny' } });
    expect((await fetch(api.url, { method: 'POST', body: 'x' })).status).toBe(401);
    await receiptOf(await deposit(api.url, request.id));
    const stranger = await newUser(bed.db);
    const reader = await ownToken(bed.db, stranger, 'read');
    expect(await codeOf(deposit(api.url, request.id, someDeposit, reader.headers))).toBe(
      '403 insufficient_scope',
    );
    const receipt = await receiptOf(await deposit(api.url, request.id, someDeposit, stranger.headers));
    expect(await pasteRow(bed.db, receipt)).toMatchObject({ user_id: asker.id });
  });

  const { content, wrapped_key } = someDeposit;
  const changed = (change: (document: Sealed) => void): string => {
    const document = JSON.parse(content) as Sealed;
    change(document);
    return JSON.stringify(document);
  };
  type Sealed = { v: number; adata: [unknown[], string, number, number]; ct: string };

  it.each<[string, unknown, string]>([
    ['no object', [], '422 validation_failed'],
    ['no JSON', '{', '400 malformed_request'],
    ['a deep document', '[[[[]]]]', '422 validation_failed'],
    ['a repeated field', `{"content":"x","content":"y","wrapped_key":"x"}`, '422 validation_failed'],
    ['an unknown field', { ...someDeposit, expires_in: 60 }, '422 validation_failed'],
    ['no key', { content }, '422 validation_failed'],
    ['a short key', { content, wrapped_key: wrapped_key.slice(1) }, '422 validation_failed'],
    ['a long key', { content, wrapped_key: `${wrapped_key}A` }, '422 validation_failed'],
    ['a key in base64', { content, wrapped_key: '+'.repeat(151) }, '422 validation_failed'],
    ['no content', { wrapped_key }, '422 validation_failed'],
    ['empty content', { content: '', wrapped_key }, '422 validation_failed'],
    ['a text in the clear', { content: 'hunter2', wrapped_key }, '422 validation_failed'],
    ['an object as content', { content: JSON.parse(content), wrapped_key }, '422 validation_failed'],
    [
      'one that is read once',
      { content: changed((d) => (d.adata[3] = 1)), wrapped_key },
      '422 validation_failed',
    ],
    ['a discussion', { content: changed((d) => (d.adata[2] = 1)), wrapped_key }, '422 validation_failed'],
    ['a lone surrogate', `{"content":"\\ud800","wrapped_key":"${wrapped_key}"}`, '422 validation_failed'],
  ])('refuses %s, and the place is free', async (_, body, code) => {
    const sent = typeof body === 'string' ? body : JSON.stringify(body);
    expect(await codeOf(deposit(bed.api.url, request.id, sent))).toBe(code);
    const now = await fetch(`${bed.api.url}/v1/requests/${request.id}`);
    expect(await now.json()).toMatchObject({ status: 'OPEN', deposits_left: 2 });
  });

  it('names the field that is wrong, without an option that deposits do not have', async () => {
    const burn = { content: changed((d) => (d.adata[3] = 1)), wrapped_key };
    const { errors } = await problemOf(await deposit(bed.api.url, request.id, burn));
    expect(errors).toEqual([{ path: 'content.adata.3', message: expect.stringContaining('must be 0') }]);
  });

  it('takes no other media type, no encoding, and nothing from a page of another site', async () => {
    const send = (headers: Record<string, string>) => deposit(bed.api.url, request.id, someDeposit, headers);
    expect(await codeOf(send({ 'content-type': 'text/plain' }))).toBe('415 unsupported_media_type');
    expect(await codeOf(send({ 'content-encoding': 'gzip' }))).toBe('415 unsupported_encoding');
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect(await codeOf(send(foreign))).toBe('403 cross_site_request');
  });
});

/** Sends the head of a request whose body never comes, and reads the answer. */
async function withoutBody(port: number, id: string, bytes: number, more = ''): Promise<string> {
  const socket = await dial(port);
  socket.write(
    `POST /v1/requests/${id}/deposits HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n${more}content-length: ${bytes}\r\n\r\n`,
  );
  const answer = await refusalOn(socket);
  return `${answer.status} ${(JSON.parse(answer.body) as { code: string }).code}`;
}

describe('before the body of a deposit is read', () => {
  const MIB = 1_048_576;

  it('is refused what takes none, or is too large', async () => {
    const { port } = bed.api;
    expect(await withoutBody(port, 'x'.repeat(22), MIB)).toBe('404 request_not_found');
    expect(await withoutBody(port, request.id, 11 * MIB)).toBe('413 content_too_large');
    for (let i = 0; i < 2; i += 1) await receiptOf(await deposit(bed.api.url, request.id));
    expect(await withoutBody(port, request.id, MIB)).toBe('409 request_used_up');
    expect(await withoutBody(port, request.id, MIB, 'idempotency-key: new\r\n')).toBe('409 request_used_up');
  });

  it('is refused an address that has used up its bytes, and the asker pays none', async () => {
    const size = someDeposit.content.length;
    const api = await bed.start({ env: limited({ address_bytes: size }) });
    await receiptOf(await deposit(api.url, request.id));
    expect(await codeOf(deposit(api.url, request.id))).toBe('429 rate_limited');
    expect(await withoutBody(api.port, request.id, MIB)).toBe('429 rate_limited');
    const post = { method: 'POST', body: 'x'.repeat(size) };
    expect((await fetch(api.url, { ...post, headers: asker.headers })).status).toBe(201);
    expect((await fetch(api.url, post)).status).toBe(429);
  });

  it('is refused what the quota of the asker does not allow, without figures', async () => {
    const size = someDeposit.content.length;
    const env = { MAX_STORED_BYTES_PER_USER: String(size + 10) };
    const api = await bed.start({ env });
    const before = await countPastes(bed.db);
    await receiptOf(await deposit(api.url, request.id));
    const refused = await problemOf(await deposit(api.url, request.id));
    expect(refused).toMatchObject({ status: 429, code: 'quota_exceeded' });
    expect(refused.detail).not.toMatch(/\d/);
    expect(await withoutBody(api.port, request.id, MIB)).toBe('429 quota_exceeded');
    expect(await countPastes(bed.db)).toBe(before + 1);
    const now = await fetch(`${api.url}/v1/requests/${request.id}`);
    expect(await now.json()).toMatchObject({ deposits_left: 1 });
  });
});
