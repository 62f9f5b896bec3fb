import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { postJson } from './support/http.ts';
import { newKey, postKeyed } from './support/keyed.ts';
import { metricOf, until } from './support/until.ts';
import { countPastes } from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

/** A group is never slow, so that all creations that wait go into one group. */
const bed = useApi({ slowGroupMs: 60_000 });

const MANY = 50;
const numbers = Array.from({ length: MANY }, (_, n) => n);

let owner: TestUser;
let other: TestUser;
beforeAll(async () => {
  owner = await newUser(bed.db);
  other = await newUser(bed.db);
});

const newSlug = () => `slug-${randomBytes(6).toString('hex')}`;

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

/** Every insert into `pastes` waits while this runs. The first creation starts alone, and those after it wait for their group. */
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
