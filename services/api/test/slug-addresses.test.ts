import { beforeAll, describe, expect, it } from '@jest/globals';
import { takeDown } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { randomBytes } from 'node:crypto';
import { useApi } from './support/api.ts';
import { postJson, problemOf } from './support/http.ts';
import { newKey, postKeyed } from './support/keyed.ts';
import { compressedPaste, countPastes, failedPaste, newPaste, processedPaste } from './support/pastes.ts';
import { metricOf, until } from './support/until.ts';
import { newUser, type TestUser } from './support/users.ts';

/** Without limits, whose own statements come by portions rather than by requests. */
const NO_LIMITS = {
  RATE_LIMIT_REQUESTS_PER_MINUTE: '0',
  RATE_LIMIT_CREATIONS_PER_MINUTE: '0',
  RATE_LIMIT_MISSES_PER_MINUTE: '0',
};
/** A group is never slow, so that all creations that wait go into one group. */
const bed = useApi({ env: NO_LIMITS, contentWaitMs: 0, slowGroupMs: 60_000 });

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

const MANY = 50;
const numbers = Array.from({ length: MANY }, (_, n) => n);

const ways: Record<string, (url: string, slug: string, user: TestUser) => Promise<Response>> = {
  'without a key': (url, slug, { headers }) => postJson(url, { content: 'x', slug }, { ...headers }),
  'with an Idempotency-Key': (url, slug, { headers }) =>
    postKeyed(url, { key: newKey(), path: `/v1/pastes?slug=${slug}`, headers }),
};

async function codeOf(response: Response): Promise<string> {
  const { code = 'created' } = (await response.json()) as { code?: string };
  return `${response.status} ${code}`;
}

describe.each(Object.keys(ways))('fifty creators of one slug, %s', (way) => {
  it('in two copies of the api: one is answered 201, and 49 are answered 409', async () => {
    const [slug, copy, before] = [newSlug(), await bed.start(), await countPastes(bed.db)];
    const responses = await Promise.all(
      numbers.map((n) => ways[way]!(n % 2 === 0 ? bed.api.url : copy.url, slug, n % 3 === 0 ? owner : other)),
    );
    const answers = await Promise.all(responses.map(codeOf));
    expect(answers.filter((answer) => answer === '201 created')).toHaveLength(1);
    expect(answers.filter((answer) => answer === '409 slug_taken')).toHaveLength(MANY - 1);
    expect(await countPastes(bed.db)).toBe(before + 1);
  });
});

/**
 * Every insert into `pastes` waits while this runs. The first creation starts alone, and those after it wait
 * for their group.
 */
async function whileInsertsWait(run: () => Promise<void>): Promise<void> {
  await bed.db.transaction().execute(async (tx) => {
    await sql`LOCK TABLE pastes IN SHARE MODE`.execute(tx);
    await run();
  });
}

const untilInsertWaits = () =>
  until(
    async () =>
      (
        await sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
          AND query LIKE '%entry AS MATERIALIZED%'`.execute(bed.db)
      ).rows.length,
    (count) => count > 0,
  );

const untilReceived = (bytes: number) =>
  until(async () => (await metricOf(bed.api, 'http_body_bytes', { kind: 'in_flight' })) >= bytes);

const raw = (body: string, query = '') =>
  fetch(`${bed.api.url}/v1/pastes${query}`, { method: 'POST', headers: owner.headers, body });

describe('creations in one group', () => {
  it('get their pastes although another one asks for a slug that is taken, before or within the group', async () => {
    const [taken, twice, free] = [newSlug(), newSlug(), newSlug()];
    expect((await raw('x', `?slug=${taken}`)).status).toBe(201);
    const before = bed.api.statements.length;
    let first: Promise<Response> | undefined;
    let named: Promise<Response>[] = [];
    let plain: Promise<Response>[] = [];
    await whileInsertsWait(async () => {
      first = raw('x');
      await untilInsertWaits();
      named = [taken, twice, twice, twice, free].map((slug) => raw('x', `?slug=${slug}`));
      plain = Array.from({ length: 20 }, () => raw('x'));
      await untilReceived(26);
    });
    expect((await first!).status).toBe(201);
    for (const response of await Promise.all(plain)) expect(response.status).toBe(201);
    const [ofTaken, ...ofOthers] = await Promise.all((await Promise.all(named)).map(codeOf));
    expect([ofTaken, ofOthers.pop()]).toEqual(['409 slug_taken', '201 created']);
    expect(ofOthers.toSorted()).toEqual(['201 created', '409 slug_taken', '409 slug_taken']);
    const inserts = bed.api.statements.slice(before).filter((text) => text.includes('INSERT INTO pastes'));
    expect(inserts).toHaveLength(2);
  });

  it('with keys: the others keep their answers, and the one that was refused can choose another slug', async () => {
    const [taken, keys] = [newSlug(), Array.from({ length: 21 }, newKey)];
    expect((await raw('x', `?slug=${taken}`)).status).toBe(201);
    const send = (n: number, query = '') =>
      postKeyed(bed.api.url, {
        key: keys[n]!,
        path: `/v1/pastes${query}`,
        body: 'x',
        headers: owner.headers,
      });
    let first: Promise<Response> | undefined;
    let others: Promise<Response>[] = [];
    await whileInsertsWait(async () => {
      first = postKeyed(bed.api.url, { key: newKey(), body: 'x' });
      await untilInsertWaits();
      others = keys.map((_, n) => send(n, n === 7 ? `?slug=${taken}` : ''));
      await untilReceived(22);
    });
    expect((await first!).status).toBe(201);
    const answers = await Promise.all((await Promise.all(others)).map(codeOf));
    expect(answers).toEqual(keys.map((_, n) => (n === 7 ? '409 slug_taken' : '201 created')));
    for (const n of [0, 20]) expect((await send(n)).headers.get('idempotency-replayed')).toBe('true');
    expect(await codeOf(await send(7, `?slug=${newSlug()}`))).toBe('201 created');
  });
});

describe('the limit of slugs', () => {
  it('is exact for fifty creations at once in two copies of the api', async () => {
    const env = { MAX_SLUGS_PER_USER: '10' };
    const copies = [await bed.start({ env }), await bed.start({ env })] as const;
    const user = await newUser(bed.db);
    const responses = await Promise.all(
      numbers.map((n) => ways[Object.keys(ways)[n % 2]!]!(copies[n % 2]!.url, newSlug(), user)),
    );
    const answers = await Promise.all(responses.map(codeOf));
    expect(answers.filter((answer) => answer === '201 created')).toHaveLength(10);
    expect(answers.filter((answer) => answer === '409 slug_limit_reached')).toHaveLength(MANY - 10);
  });
});
