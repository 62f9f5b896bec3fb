import { beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { wholeDocument } from './support/document.ts';
import { dial, parseAnswer, problemOf } from './support/http.ts';
import { keyRows, newKey, postKeyed, wholeAnswer, type KeyedPost } from './support/keyed.ts';
import { countPastes, newPaste } from './support/pastes.ts';
import { until } from './support/until.ts';
import { newUser } from './support/users.ts';

const bed = useApi();

beforeEach(async () => {
  await sql`TRUNCATE idempotency_keys`.execute(bed.db);
});

function form(content: string): FormData {
  const made = new FormData();
  made.set('content', content);
  made.set('title', 'A form');
  return made;
}

const json = JSON.stringify({ content: 'hällo', title: 'Ä title' });

/** Each way to POST, built for each request: a form then has another boundary. */
const posts: readonly (readonly [name: string, () => Omit<KeyedPost, 'key'>])[] = [
  ['POST /v1/pastes of JSON', () => ({ type: 'application/json', body: json })],
  ['POST /v1/pastes of bytes', () => ({ path: '/v1/pastes?title=Raw', body: Buffer.from([0, 255, 254]) })],
  ['POST /v1/pastes of a form', () => ({ type: '', body: form('hällo') })],
  ['POST / of bytes', () => ({ path: '/', body: 'from a shell' })],
  ['POST / of a form', () => ({ path: '/', type: '', body: form('from a shell') })],
];

describe('the same key with the same request', () => {
  it.each(posts)(
    'gets the first answer again, byte for byte, and creates nothing: %s',
    async (_name, post) => {
      const key = newKey();
      const before = await countPastes(bed.db);
      const first = await wholeAnswer(await postKeyed(bed.api.url, { ...post(), key }));
      expect(first).toMatchObject({ status: 201, replayed: false });
      expect(first.headers).toMatchObject({ location: expect.stringMatching(/^http/) });
      for (const _again of [1, 2]) {
        const again = await wholeAnswer(await postKeyed(bed.api.url, { ...post(), key }));
        expect(again).toEqual({ ...first, replayed: true });
      }
      expect(await countPastes(bed.db)).toBe(before + 1);
    },
  );

  it('works for jobs', async () => {
    const user = await newUser(bed.db);
    const post = (jobType: string) => ({
      key: 'a job',
      path: '/v1/jobs',
      type: 'application/json',
      body: JSON.stringify({ job_type: jobType, parameters: {} }),
      headers: user.headers,
    });
    const first = await wholeAnswer(await postKeyed(bed.api.url, post('export')));
    expect(first).toMatchObject({ status: 202, replayed: false });
    expect(await wholeAnswer(await postKeyed(bed.api.url, post('export')))).toEqual({
      ...first,
      replayed: true,
    });
    const jobs = await bed.db.selectFrom('jobs').select('id').where('user_id', '=', user.id).execute();
    expect(jobs).toHaveLength(1);
  });

  it('works for every POST of the route table that creates something', () => {
    for (const [path, { post }] of Object.entries(wholeDocument().document.paths)) {
      if (path.endsWith('/cancel')) continue;
      if (post?.operationId.startsWith('revealPaste') === true) continue; // a reveal is never repeated
      if (post?.operationId === 'reportPaste') continue; // a repeated report is the same row
      if (post?.operationId === 'createToken') continue; // a kept answer would hold the token
      const names = post?.parameters.map(({ name }) => name) ?? ['Idempotency-Key'];
      expect(names).toContain('Idempotency-Key');
    }
  });

  it('leaves the delete token nowhere but in the answer', async () => {
    const key = newKey();
    const body = await (await postKeyed(bed.api.url, { key })).text();
    const { delete_token: token } = JSON.parse(body) as { delete_token: string };
    const [row] = await keyRows(bed.db);
    const kept = Object.values(row!).map((value) => Buffer.from(value as Buffer | string).toString());
    for (const secret of [key, token, 'short_code'])
      expect(kept.filter((text) => text.includes(secret))).toEqual([]);
    await until(() => bed.api.logs.some(({ message }) => message === 'request'));
    for (const secret of [key, token]) expect(JSON.stringify(bed.api.logs)).not.toContain(secret);
  });

  it('logs the replay', async () => {
    const key = newKey();
    await postKeyed(bed.api.url, { key });
    await postKeyed(bed.api.url, { key, headers: { 'x-request-id': 'the-second' } });
    const line = () => bed.api.logs.find(({ request_id }) => request_id === 'the-second');
    expect(await until(line)).toMatchObject({ message: 'request', status: 201, replayed: true });
  });

  it('works for 10 MiB', async () => {
    const key = newKey();
    const body = Buffer.alloc(10_485_760, 'pasteflow\n');
    const first = await wholeAnswer(await postKeyed(bed.api.url, { key, body }));
    expect(first.status).toBe(201);
    const again = await wholeAnswer(await postKeyed(bed.api.url, { key, body }));
    expect(again).toEqual({ ...first, replayed: true });
    body[10_485_759] = 0;
    expect((await postKeyed(bed.api.url, { key, body })).status).toBe(422);
  });

  it('creates another paste after 24 hours', async () => {
    const key = newKey();
    const first = await wholeAnswer(await postKeyed(bed.api.url, { key }));
    const age = (interval: string) =>
      sql`UPDATE idempotency_keys SET created_at = now() - ${interval}::interval`.execute(bed.db);
    await age('23 hours 59 minutes');
    expect(await wholeAnswer(await postKeyed(bed.api.url, { key }))).toEqual({ ...first, replayed: true });
    await age('24 hours');
    const other = await wholeAnswer(await postKeyed(bed.api.url, { key, body: 'other content' }));
    expect(other).toMatchObject({ status: 201, replayed: false });
    expect(other.body).not.toEqual(first.body);
  });

  it('creates another paste after IDEMPOTENCY_RETENTION_SECONDS', async () => {
    const api = await bed.start({ env: { IDEMPOTENCY_RETENTION_SECONDS: '60' } });
    const key = newKey();
    await postKeyed(api.url, { key });
    await sql`UPDATE idempotency_keys SET created_at = now() - interval '60 s'`.execute(bed.db);
    expect(await wholeAnswer(await postKeyed(api.url, { key }))).toMatchObject({ replayed: false });
  });
});

describe('the same key with another request', () => {
  const first: Omit<KeyedPost, 'key'> = { path: '/v1/pastes?title=One', type: 'text/plain', body: 'content' };

  it.each<[string, Omit<KeyedPost, 'key'>]>([
    ['content', { ...first, body: 'Content' }],
    ['content type', { ...first, type: 'text/html' }],
    ['charset', { ...first, type: 'text/plain; charset=latin1' }],
    ['query', { ...first, path: '/v1/pastes?title=Two' }],
    ['path', { ...first, path: '/?title=One' }],
  ])('is refused: another %s', async (_name, other) => {
    const key = newKey();
    expect((await postKeyed(bed.api.url, { ...first, key })).status).toBe(201);
    const before = await countPastes(bed.db);
    const refused = await postKeyed(bed.api.url, { ...other, key });
    expect(await problemOf(refused)).toMatchObject({ status: 422, code: 'idempotency_key_reused' });
    expect(await countPastes(bed.db)).toBe(before);
    expect((await postKeyed(bed.api.url, { ...first, key })).status).toBe(201);
  });

  it.each(['title', 'syntax', 'content', 'expires_in'])('is refused: another %s in JSON', async (field) => {
    const key = newKey();
    const body = { content: 'x', title: 'One', syntax: 'text', expires_in: 60 };
    const others = { syntax: 'markdown', expires_in: 61 };
    const post = (value: object) =>
      postKeyed(bed.api.url, { key, type: 'application/json', body: JSON.stringify(value) });
    expect((await post(body)).status).toBe(201);
    const other = await post({ ...body, [field]: others[field as keyof typeof others] ?? 'other' });
    expect(await problemOf(other)).toMatchObject({ status: 422, code: 'idempotency_key_reused' });
  });

  it('is refused: an unlisted paste instead of a private one', async () => {
    const { headers } = await newUser(bed.db);
    const key = newKey();
    const post = (visibility: string) =>
      postKeyed(bed.api.url, { key, headers, path: `/v1/pastes?visibility=${visibility}` });
    expect((await post('private')).status).toBe(201);
    expect((await post('unlisted')).status).toBe(422);
  });

  it('does not conflict with the key of another caller', async () => {
    const api = await bed.start({ env: { TRUST_PROXY: 'loopback' } });
    const users = [await newUser(bed.db), await newUser(bed.db)];
    const callers = [
      ...users.map(({ headers }) => headers),
      ...['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8:0:1::1'].map((address) => ({
        'x-forwarded-for': address,
      })),
    ];
    const key = newKey();
    const before = await countPastes(bed.db);
    const answers = [];
    for (const headers of callers) {
      answers.push(
        await wholeAnswer(await postKeyed(api.url, { key, headers, body: JSON.stringify(headers) })),
      );
    }
    expect(answers.map(({ status, replayed }) => ({ status, replayed }))).toEqual(
      callers.map(() => ({ status: 201, replayed: false })),
    );
    expect(await countPastes(bed.db)).toBe(before + callers.length);
    // The same subscriber, with another address of the same network.
    const body = JSON.stringify({ 'x-forwarded-for': '2001:db8::1' });
    const moved = await postKeyed(api.url, { key, body, headers: { 'x-forwarded-for': '2001:db8::ffff' } });
    expect((await wholeAnswer(moved)).replayed).toBe(true);
  });
});

describe('a malformed key', () => {
  it.each([
    ['empty', 'Idempotency-Key:'],
    ['256 characters', `Idempotency-Key: ${'k'.repeat(256)}`],
    ['a tab', 'Idempotency-Key: a\tb'],
    ['not ASCII', 'Idempotency-Key: kä'],
    ['two of them', 'Idempotency-Key: one\r\nIdempotency-Key: two'],
  ])('is refused before the body is read: %s', async (_name, header) => {
    const socket = await dial(bed.api.port);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    const head = `POST /v1/pastes HTTP/1.1\r\nHost: x\r\n${header}\r\nContent-Length: 100000\r\n\r\n`;
    socket.write(Buffer.from(head, 'latin1'));
    const answer = await until(
      () => parseAnswer(Buffer.concat(chunks).toString()),
      ({ body }) => body !== '',
    );
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'malformed_request' });
    socket.destroy();
  });

  it.each(['k', 'k'.repeat(255), '"in quotes"', 'with, a comma', '~ !'])(
    'is accepted when it is valid: %s',
    async (key) => {
      expect((await postKeyed(bed.api.url, { key })).status).toBe(201);
      expect((await wholeAnswer(await postKeyed(bed.api.url, { key }))).replayed).toBe(true);
    },
  );
});

describe('a request that fails', () => {
  const tooLarge = Buffer.alloc(10_485_761);

  it.each<[string, number, Omit<KeyedPost, 'key'>]>([
    ['an unknown field', 422, { type: 'application/json', body: '{"content": "x", "colour": "red"}' }],
    ['no JSON', 400, { type: 'application/json', body: '{' }],
    ['no content', 422, { body: '' }],
    ['too much content', 413, { body: tooLarge }],
    ['an unknown parameter', 422, { path: '/v1/pastes?colour=red' }],
    ['a coding', 415, { headers: { 'content-encoding': 'gzip' } }],
    ['a bad token', 401, { headers: { authorization: 'Bearer pf_nonsense' } }],
  ])('leaves no key behind, and a correct request may follow: %s', async (_name, status, post) => {
    const key = newKey();
    expect((await postKeyed(bed.api.url, { ...post, key })).status).toBe(status);
    expect(await keyRows(bed.db)).toEqual([]);
    expect(await wholeAnswer(await postKeyed(bed.api.url, { key }))).toMatchObject({
      status: 201,
      replayed: false,
    });
  });

  it('releases its key when it fails during the creation, and the next request creates the paste', async () => {
    const taken = await newPaste(bed.db);
    const codes = [...Array<string>(6).fill(taken), 'freeAtLast']; // one in the group, five alone
    const api = await bed.start({ newShortCode: () => codes.shift()! });
    const key = newKey();
    const refused = await postKeyed(api.url, { key });
    expect(await problemOf(refused)).toMatchObject({ status: 503, code: 'short_code_taken' });
    expect(await keyRows(bed.db)).toEqual([]);
    const made = await postKeyed(api.url, { key });
    expect(await made.json()).toMatchObject({ short_code: 'freeAtLast' });
  });
});

describe('the statements', () => {
  const statementsOf = async (post: () => Promise<Response>): Promise<readonly string[]> => {
    const before = bed.api.statements.length;
    const { status } = await post();
    expect(status).toBe(201);
    return bed.api.statements.slice(before).map((sql) => sql.trim().split(/\s+/).slice(0, 3).join(' '));
  };

  it('of a creation with a key are the claim and a transaction of two; of a replay, the claim', async () => {
    const key = newKey();
    expect(await statementsOf(() => postKeyed(bed.api.url, { key }))).toEqual([
      'INSERT INTO idempotency_keys',
      'begin',
      'WITH lock_limit AS',
      'UPDATE idempotency_keys SET',
      'commit',
    ]);
    expect(await statementsOf(() => postKeyed(bed.api.url, { key }))).toEqual([
      'INSERT INTO idempotency_keys',
    ]);
  });
});
