import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { takeDown } from '@pasteflow/postgres';
import { useApi } from './support/api.ts';
import { problemOf } from './support/http.ts';
import { compressedPaste, failedPaste, newPaste, processedPaste } from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

/** Without limits, whose own statements come by portions rather than by requests. */
const NO_LIMITS = {
  RATE_LIMIT_REQUESTS_PER_MINUTE: '0',
  RATE_LIMIT_CREATIONS_PER_MINUTE: '0',
  RATE_LIMIT_MISSES_PER_MINUTE: '0',
};
const bed = useApi({ env: { ...NO_LIMITS, CONTENT_WAIT_MS: '0' } });

let owner: TestUser;
let other: TestUser;
beforeAll(async () => {
  owner = await newUser(bed.db);
  other = await newUser(bed.db);
});

function newSlug(): string {
  return `slug-${randomBytes(6).toString('hex')}`;
}

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(bed.api.url + path, { headers });

/** A paste of the owner. @returns its slug and its short code */
async function named(make: (of: { userId: string; slug: string }) => Promise<string>) {
  const slug = newSlug();
  return { slug, code: await make({ userId: owner.id, slug }) };
}
const stored = (content = 'hello') => named((of) => processedPaste(bed, content, of));

describe('the address with a slug', () => {
  it.each([
    ['/', '', {}],
    ['/', '.ts', {}],
    ['/', '/timeline', {}],
    ['/v1/pastes/', '', {}],
    ['/v1/pastes/', '/content', {}],
    ['/v1/pastes/', '/timeline', {}],
    ['/', '', { range: 'bytes=1-2' }],
    ['/', '', { range: 'bytes=99-' }],
    ['/', '', { 'if-none-match': '*' }],
    ['/', '', { 'if-match': '"another"' }],
  ])('%sNAME%s with %j is answered as the one with the short code', async (before, after, headers) => {
    const { slug, code } = await stored('const hello = 1;');
    for (const method of ['GET', 'HEAD']) {
      const answerAt = async (name: string) => {
        const response = await fetch(bed.api.url + before + name + after, { method, headers });
        const told = Object.fromEntries(response.headers);
        for (const each of ['x-request-id', 'date', 'content-length']) delete told[each];
        return {
          status: response.status,
          told,
          body: (await response.text()).replaceAll(`~${slug}`, code),
        };
      };
      expect(await answerAt(`~${slug}`)).toEqual(await answerAt(code));
      expect(await answerAt(`%7e${slug}`)).toMatchObject({ status: (await answerAt(code)).status });
    }
  });

  it('streams the events of the paste, and passes on what is stored compressed', async () => {
    const { slug } = await named((of) => compressedPaste(bed, 'x'.repeat(5000), of));
    const events = await (await get(`/v1/pastes/~${slug}/events`)).text();
    expect(events).toContain('PROCESSED');
    const response = await get(`/~${slug}`, { 'accept-encoding': 'gzip' });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(await response.text()).toBe('x'.repeat(5000));
  });

  it('tells to retry while the upload is in progress', async () => {
    const { slug } = await named((of) => newPaste(bed.db, 'x', of));
    const response = await get(`/~${slug}`);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  });

  it('is not found after the upload failed, and says why after a takedown', async () => {
    const failed = await named((of) => failedPaste(bed.db, of));
    expect((await get(`/~${failed.slug}`)).status).toBe(404);
    const { slug, code } = await stored();
    await takeDown(bed.db, [code], { actor: 'ops/test', class: 'spam', reason: 'reported' });
    expect(await problemOf(await get(`/~${slug}`))).toMatchObject({ status: 451, code: 'paste_taken_down' });
  });

  it('reveals a paste that is deleted when it is read, once', async () => {
    const { slug } = await named((of) => processedPaste(bed, 'the secret', { ...of, burn: true }));
    expect(await problemOf(await get(`/~${slug}`))).toMatchObject({ code: 'reveal_required' });
    const reveal = () => fetch(`${bed.api.url}/~${slug}`, { method: 'POST' });
    const answers = await Promise.all(Array.from({ length: 10 }, reveal));
    expect(answers.filter(({ status }) => status === 410)).toHaveLength(9);
    expect(await answers.find(({ status }) => status === 200)!.text()).toBe('the secret');
  });

  it('deletes the paste for its owner only', async () => {
    const { slug } = await stored();
    const remove = ({ headers }: TestUser) =>
      fetch(`${bed.api.url}/v1/pastes/~${slug}`, { method: 'DELETE', headers });
    expect((await remove(other)).status).toBe(401);
    expect((await remove(owner)).status).toBe(204);
    expect((await get(`/~${slug}`)).status).toBe(410);
  });

  it.each([
    '~',
    '~ab',
    '~-ab',
    '~ab-',
    '~Abc',
    '~a_c',
    `~${'x'.repeat(65)}`,
    '~~abc',
    '~abc%2F',
    '~abc.',
    '~a%00c',
  ])('/%s is no slug, and is not looked up', async (name) => {
    const before = bed.api.statements.length;
    expect((await get(`/${name}`)).status).toBe(404);
    expect(bed.api.statements.slice(before)).toEqual([]);
  });

  it('takes one statement', async () => {
    const { slug } = await stored();
    const before = bed.api.statements.length;
    await get(`/~${slug}`);
    expect(bed.api.statements.slice(before)).toHaveLength(1);
  });
});

describe('a private paste with a slug', () => {
  it.each(['', '/content', '/timeline', '/events'])(
    'is answered to strangers as a slug that nobody has: /v1/pastes/~NAME%s',
    async (after) => {
      const { slug } = await named((of) => processedPaste(bed, 'x', { ...of, visibility: 'private' }));
      const answerAt = async (name: string, { headers }: Pick<TestUser, 'headers'>) => {
        const before = bed.api.statements.length;
        const response = await get(`/v1/pastes/~${name}${after}`, headers);
        const told = Object.fromEntries(response.headers);
        for (const each of ['x-request-id', 'date']) delete told[each];
        const body = (await response.text()).replaceAll(name, 'NAME');
        const { message, short_code: code } = bed.api.logs.at(-1)!;
        const statements = bed.api.statements.slice(before);
        return { status: response.status, told, body, statements, message, code };
      };
      for (const as of [{ headers: {} }, other]) {
        const answer = await answerAt(slug, as);
        expect(answer).toEqual(await answerAt(newSlug(), as));
        expect(answer.status).toBe(404);
      }
      expect((await answerAt(slug, owner)).status).toBe(200);
    },
  );
});

describe('guesses at slugs', () => {
  it('count as guesses at short codes do', async () => {
    const api = await bed.start({ env: { ...NO_LIMITS, RATE_LIMIT_MISSES_PER_MINUTE: '5' } });
    const statuses = [];
    for (let n = 0; n < 20; n += 1) statuses.push((await fetch(`${api.url}/~${newSlug()}`)).status);
    expect(statuses).toContain(429);
  });
});
