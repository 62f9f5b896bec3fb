import { beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { useApi } from './support/api.ts';
import { dial, postJson, postRaw, problemOf, refusalOn } from './support/http.ts';
import {
  claimForDeletion,
  countPastes,
  deletedPaste,
  expire,
  failedPaste,
  newPaste,
  type Ownership,
  pasteRow,
  processedPaste,
} from './support/pastes.ts';
import { recordedBody, storedTextOf } from './support/recorded-pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

/** Without limits, whose own statements come by portions rather than by requests. */
const NO_LIMITS = {
  RATE_LIMIT_REQUESTS_PER_MINUTE: '0',
  RATE_LIMIT_CREATIONS_PER_MINUTE: '0',
  RATE_LIMIT_MISSES_PER_MINUTE: '0',
};
const bed = useApi({ env: NO_LIMITS });

let owner: TestUser;
let other: TestUser;
beforeAll(async () => {
  owner = await newUser(bed.db);
  other = await newUser(bed.db);
});

const states: Readonly<Record<string, (of: Ownership) => Promise<string>>> = {
  IN_PROGRESS: (of) => newPaste(bed.db, 'content', of),
  PROCESSED: (of) => processedPaste(bed, 'content', of),
  FAILED: (of) => failedPaste(bed.db, of),
  expired: async (of) => {
    const code = await processedPaste(bed, 'content', of);
    await expire(bed.db, code);
    return code;
  },
  claimed: async (of) => {
    const code = await processedPaste(bed, 'content', of);
    await claimForDeletion(bed.db, code);
    return code;
  },
  deleted: async (of) => {
    const code = await processedPaste(bed, 'content', of);
    await deletedPaste(bed.db, code);
    return code;
  },
};

interface Asked {
  readonly method: string;
  readonly path: (code: string) => string;
  readonly headers?: Readonly<Record<string, string>>;
}

const metadata = (code: string) => `/v1/pastes/${code}`;
const content = (code: string) => `/v1/pastes/${code}/content`;
const short = (code: string) => `/${code}`;
const timeline = (code: string) => `/v1/pastes/${code}/timeline`;

const requests: Readonly<Record<string, Asked>> = {
  'GET metadata': { method: 'GET', path: metadata },
  'GET content': { method: 'GET', path: content },
  'GET short': { method: 'GET', path: short },
  'GET timeline': { method: 'GET', path: timeline },
  'HEAD short': { method: 'HEAD', path: short },
  'GET content with If-None-Match': { method: 'GET', path: content, headers: { 'if-none-match': '*' } },
  'GET content with If-Match': { method: 'GET', path: short, headers: { 'if-match': '"another"' } },
  'GET a range': { method: 'GET', path: content, headers: { range: 'bytes=0-1' } },
  'GET a range beyond': { method: 'GET', path: short, headers: { range: 'bytes=99-' } },
  DELETE: { method: 'DELETE', path: metadata },
  'DELETE with a token': { method: 'DELETE', path: metadata, headers: { 'delete-token': 'the token' } },
};

/** All that an answer reveals: its headers but for those of the request, and its statements. */
async function answerTo({ method, path, headers }: Asked, code: string, as: TestUser | null) {
  const before = bed.api.statements.length;
  const response = await fetch(bed.api.url + path(code), {
    method,
    headers: { ...headers, ...as?.headers },
  });
  const body = (await response.text()).replaceAll(code, 'CODE');
  const told = new Headers(response.headers);
  told.delete('x-request-id');
  told.delete('date');
  const statements = bed.api.statements.slice(before);
  return { status: response.status, headers: [...told], body, statements };
}

describe.each(Object.keys(states))('a private paste that is %s', (state) => {
  let code: string;
  beforeAll(async () => {
    code = await states[state]!({ userId: owner.id, visibility: 'private' });
  });

  it.each(Object.keys(requests))('is answered like an unknown paste to everybody else: %s', async (name) => {
    const asked = requests[name]!;
    const unknown = randomBytes(5).toString('hex');
    expect(unknown).toHaveLength(code.length);
    for (const as of [null, other]) {
      const answer = await answerTo(asked, code, as);
      expect(answer).toEqual(await answerTo(asked, unknown, as));
      expect(answer.status).toBe(404);
      expect(answer.statements).toHaveLength(as === null ? 1 : 2);
    }
  });

  it('is shown to its owner', async () => {
    const gone = ['expired', 'claimed', 'deleted'].includes(state);
    const { status } = await answerTo(requests['GET metadata']!, code, owner);
    expect(status).toBe(gone ? 410 : 200);
  });
});

describe('a private paste', () => {
  const json = { content: 'x', visibility: 'private' };

  it('is created with a token, in each form, and shows its visibility', async () => {
    const form = new FormData();
    form.append('content', 'x');
    form.append('visibility', 'private');
    const responses = [
      await postJson(bed.api.url, json, owner.headers),
      await fetch(`${bed.api.url}/v1/pastes?visibility=private`, {
        method: 'POST',
        headers: owner.headers,
        body: Buffer.from('x'),
      }),
      await fetch(`${bed.api.url}/v1/pastes`, { method: 'POST', headers: owner.headers, body: form }),
    ];
    for (const response of responses) {
      const paste = (await response.json()) as { short_code: string };
      expect([response.status, paste]).toMatchObject([201, { visibility: 'private' }]);
      expect(await pasteRow(bed.db, paste.short_code)).toMatchObject({
        user_id: owner.id,
        visibility: 'private',
      });
      expect((await fetch(bed.api.url + metadata(paste.short_code))).status).toBe(404);
    }
  });

  it('is refused without a token, in any form; so is an unknown visibility', async () => {
    const before = await countPastes(bed.db);
    const form = new FormData();
    form.append('visibility', 'private');
    form.append('content', 'x');
    for (const response of [
      await postJson(bed.api.url, json),
      await postRaw(bed.api.url, 'x', '?visibility=private'),
      await fetch(`${bed.api.url}/v1/pastes`, { method: 'POST', body: form }),
      await fetch(`${bed.api.url}/?visibility=private`, { method: 'POST', body: 'x' }),
      await postJson(bed.api.url, { content: 'x', visibility: 'public' }, owner.headers),
      await postJson(bed.api.url, { content: 'x', visibility: null }, owner.headers),
    ]) {
      expect(await problemOf(response)).toMatchObject({
        status: 422,
        code: 'validation_failed',
        errors: [{ path: 'visibility' }],
      });
    }
    expect(await countPastes(bed.db)).toBe(before);
  });

  it('is refused before its content is sent, when the query has the visibility', async () => {
    const socket = await dial(bed.api.port);
    socket.write(
      'POST /?visibility=private HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\n\r\n',
    );
    const answer = await refusalOn(socket);
    expect(answer.status).toBe(422);
  });

  it('is unlisted by default', async () => {
    const response = await postJson(bed.api.url, { content: 'x' }, owner.headers);
    const { short_code: code, visibility } = (await response.json()) as Record<string, string>;
    expect(visibility).toBe('unlisted');
    expect((await fetch(bed.api.url + metadata(code!))).status).toBe(200);
  });
});

const DOCUMENT = storedTextOf(recordedBody('text'));

async function create(
  query: string,
  body: string,
): Promise<{ status: number; json: Record<string, unknown> }> {
  const response = await fetch(`${bed.api.url}/v1/pastes?${query}`, { method: 'POST', body });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

describe('an encrypted paste', () => {
  it('is created from a document of ciphertext, in each form of a body', async () => {
    const raw = await create('encrypted=true', DOCUMENT);
    expect(raw).toMatchObject({ status: 201, json: { encrypted: true, title: null, syntax: null } });
    const json = await fetch(`${bed.api.url}/v1/pastes`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ content: DOCUMENT, encrypted: true }),
    });
    const form = new FormData();
    form.set('content', DOCUMENT);
    form.set('encrypted', 'true');
    const multipart = await fetch(`${bed.api.url}/v1/pastes`, { method: 'POST', body: form });
    for (const response of [json, multipart]) {
      expect(response.status).toBe(201);
      const { short_code: code } = (await response.json()) as { short_code: string };
      expect(await pasteRow(bed.db, code)).toMatchObject({ encrypted: true, size_bytes: DOCUMENT.length });
    }
  });

  it('is refused with a title or a language that the server could read', async () => {
    const { status, json } = await create('encrypted=true&title=Secret&syntax=rust', DOCUMENT);
    expect(status).toBe(422);
    expect(json['errors']).toEqual([
      { path: 'title', message: expect.stringContaining('the server could read it') },
      { path: 'syntax', message: expect.stringContaining('the server could read it') },
    ]);
  });

  it.each([
    ['a plain text', 'hello', 'content'],
    ['bytes that are no text', 'é\0', 'content'],
    ['a document with spaces', ` ${DOCUMENT}`, 'content'],
    ['what PrivateBin posts', recordedBody('text'), 'content'],
    ['too few rounds', DOCUMENT.replace('100000', '10000'), 'content.adata.0.2'],
    ['a discussion', storedTextOf(recordedBody('discussion')), 'content.adata.2'],
  ])('is refused with %s as its content', async (_, body, path) => {
    const { status, json } = await create('encrypted=true', body);
    expect(status).toBe(422);
    expect(json['errors']).toEqual([{ path, message: expect.any(String) }]);
  });

  it('is deleted when it is read if its document says so, and is refused otherwise', async () => {
    const document = DOCUMENT.replace(/,0,0\],"ct"/, ',0,1],"ct"');
    expect(document).not.toBe(DOCUMENT);
    const refused = await create('encrypted=true', document);
    expect(refused.status).toBe(422);
    expect(refused.json['errors']).toEqual([{ path: 'burn', message: expect.stringContaining('adata.3') }]);
    const created = await create('encrypted=true&burn=true', document);
    expect(created).toMatchObject({ status: 201, json: { encrypted: true, burn: true } });
  });

  it('is encrypted or not, and nothing between', async () => {
    expect((await create('encrypted=yes', DOCUMENT)).status).toBe(422);
    expect((await create('encrypted=', DOCUMENT)).status).toBe(422);
    expect((await create('encrypted=false', DOCUMENT)).json['encrypted']).toBe(false);
  });
});
