import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { moveSlug } from '@pasteflow/postgres';
import { useApi } from './support/api.ts';
import { isNginxRequired, Nginx } from './support/nginx.ts';
import {
  compressedPaste,
  deletedPaste,
  failedPaste,
  newPaste,
  processedPaste,
  upload,
} from './support/pastes.ts';
import { compressibleContent, rawGet, type UndecodedAnswer } from './support/raw-get.ts';
import { newUser, signedInWith, type TestUser } from './support/users.ts';

const describeWithNginx = isNginxRequired() ? describe : describe.skip;

const bed = useApi({ contentWaitMs: 1 }); // the bytes of an upload in progress are asked for often
let nginx: Nginx;
let user: TestUser;
let cookie: string;
beforeAll(async () => {
  if (!isNginxRequired()) return;
  nginx = await Nginx.start(bed.api.url);
  user = await newUser(bed.db, { name: 'anna' });
  cookie = await signedInWith(bed.db, user.token);
});
afterAll(() => nginx?.stop());

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const CURL = { accept: '*/*' };
const GZIP = { ...CURL, 'accept-encoding': 'gzip' };
const signedIn = () => ({ ...BROWSER, cookie, 'sec-fetch-site': 'same-origin' });

async function deleted(): Promise<string> {
  const code = await processedPaste(bed, 'deleted');
  await deletedPaste(bed.db, code);
  return code;
}

const compressed = () => compressedPaste(bed, compressibleContent(5000));

const ownPrivate = () => processedPaste(bed, 'mine', { userId: user.id, visibility: 'private' });

const cacheOf = ({ headers }: UndecodedAnswer): unknown => headers['x-cache'];

type DynamicAnswer = readonly [
  name: string,
  path: () => string | Promise<string>,
  headers: () => Readonly<Record<string, string>>,
  status: number,
];

const dynamicAnswers: readonly DynamicAnswer[] = [
  ['the form', () => '/', () => BROWSER, 200],
  ['the usage', () => '/', () => CURL, 200],
  ['the page of a paste', compressed, () => BROWSER, 200],
  ['the bytes of a paste', compressed, () => CURL, 200],
  ['the compressed bytes of a paste', compressed, () => GZIP, 200],
  ['a timeline', async () => `${await compressed()}/timeline`, () => BROWSER, 200],
  ['metadata', async () => `v1/pastes/${await compressed()}`, () => CURL, 200],
  ['an upload in progress', () => newPaste(bed.db), () => CURL, 503],
  ['a page of an upload in progress', () => newPaste(bed.db), () => BROWSER, 200],
  ['a failed paste', () => failedPaste(bed.db), () => BROWSER, 404],
  ['a deleted paste', deleted, () => CURL, 410],
  ['an unknown code', () => 'missing123', () => BROWSER, 404],
  ['a private paste for its owner’s token', ownPrivate, () => ({ ...CURL, ...user.headers }), 200],
  ['a private paste for its owner’s browser', ownPrivate, signedIn, 200],
  ['a list for a token', () => 'v1/pastes', () => user.headers, 200],
  ['the lists of a browser that is signed in', () => 'my/pastes', signedIn, 200],
  ['the form of a browser that is signed in', () => '/', signedIn, 200],
];

describeWithNginx('a shared cache that keeps what it may', () => {
  it('keeps the files of the pages', async () => {
    const { body } = await nginx.get('obedient', '/', BROWSER);
    const [, path = ''] = /href="([^"]+\.css)"/.exec(body.toString()) ?? [];
    const answers = [await nginx.get('obedient', path), await nginx.get('obedient', path)];
    expect(answers.map(cacheOf)).toEqual(['MISS', 'HIT']);
  });

  it.each(dynamicAnswers)('never keeps %s', async (_name, make, headersOf, status) => {
    const made = await make();
    const path = made === '/' ? made : `/${made}`;
    for (let round = 0; round < 2; round += 1) {
      const answer = await nginx.get('obedient', path, headersOf());
      expect([answer.status, cacheOf(answer)]).toEqual([status, 'MISS']);
    }
  });

  it('follows a slug that moves, also for the ETag of the version before', async () => {
    const first = await processedPaste(bed, 'one', { userId: user.id, slug: 'cached-slug' });
    const second = await processedPaste(bed, 'two', { userId: user.id, parent: first });
    const before = await nginx.get('obedient', '/~cached-slug', CURL);
    const tag = { ...CURL, 'if-none-match': String(before.headers.etag) };
    await moveSlug(bed.db, { slug: 'cached-slug', userId: user.id, from: first, to: second }, 'test');
    const after = await nginx.get('obedient', '/~cached-slug', tag);
    expect([after.status, after.body.toString()]).toEqual([200, 'two']);
  });
});

/** What an answer means for its client. */
function shownIn({ status, headers, body }: UndecodedAnswer) {
  const { 'content-type': type, 'content-encoding': encoding, etag, vary } = headers;
  return {
    status,
    type,
    encoding,
    etag,
    vary,
    text: (encoding === 'gzip' ? gunzipSync(body) : body).toString(),
  };
}

/** Without what is of one request. */
const withoutIds = (text: string): string =>
  text.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID');

const clients: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  browser: { ...BROWSER, 'accept-encoding': 'gzip, deflate, br, zstd' },
  curl: CURL,
  'curl --compressed': GZIP,
  'a client that prefers plain text': { accept: 'text/html;q=0.1, text/plain' },
};

/** Each order in which the clients can come. */
function* ordersOf<T>(items: readonly T[]): Generator<readonly T[]> {
  if (items.length === 0) yield [];
  for (const [index, first] of items.entries())
    for (const rest of ordersOf(items.toSpliced(index, 1))) yield [first, ...rest];
}

describeWithNginx('a shared cache that keeps every answer and honours Vary', () => {
  it('gives each client the answer of the api, in every order of the clients', async () => {
    let hits = 0;
    for (const order of ordersOf(Object.keys(clients))) {
      const path = `/${await compressed()}`;
      for (const name of [...order, ...order]) {
        const direct = shownIn(await rawGet(bed.api.url + path, clients[name]));
        const answer = await nginx.get('greedy', path, clients[name]);
        expect({ order, name, ...shownIn(answer) }).toEqual({ order, name, ...direct });
        if (cacheOf(answer) === 'HIT') hits += 1;
      }
    }
    expect(hits).toBeGreaterThan(24); // at least one of each order
  });

  it.each([
    ['503', () => newPaste(bed.db)],
    ['404 of a failed paste', () => failedPaste(bed.db)],
    ['404 of an unknown code', () => Promise.resolve(`x${Math.random().toString(36).slice(2, 11)}`)],
    ['410', deleted],
  ] as const)('keeps the page and the answer for programs apart: %s', async (answered, make) => {
    for (const order of [
      ['browser', 'curl'],
      ['curl', 'browser'],
    ]) {
      const path = `/${await make()}`;
      for (const cached of ['MISS', 'HIT']) {
        for (const name of order) {
          const { text, ...direct } = shownIn(await rawGet(bed.api.url + path, clients[name]));
          const answer = await nginx.get('greedy', path, clients[name]);
          // The page that waits is compressed, unlike the 503: nginx keeps one of two answers whose Vary differs.
          if (answered !== '503') expect(cacheOf(answer)).toBe(cached);
          expect(shownIn(answer)).toMatchObject(direct);
          expect(withoutIds(shownIn(answer).text)).toBe(withoutIds(text));
        }
      }
    }
  });

  it('answers 304 and HEAD for the variant that was asked for', async () => {
    const path = `/${await compressed()}`;
    const names = ['browser', 'curl', 'curl --compressed'];
    const tags = [];
    for (const name of names) tags.push((await rawGet(bed.api.url + path, clients[name])).headers.etag!);
    expect(new Set(tags).size).toBe(names.length);
    for (const [at, name] of names.entries()) {
      await nginx.get('greedy', path, clients[name]); // now the cache has this variant
      for (const [of, tag] of tags.entries()) {
        const answer = await nginx.get('greedy', path, { ...clients[name], 'if-none-match': tag });
        expect([name, of, answer.status, cacheOf(answer)]).toEqual([name, of, at === of ? 304 : 200, 'HIT']);
      }
      const head = await nginx.get('greedy', path, clients[name], 'HEAD');
      expect([cacheOf(head), head.headers.etag, head.body.length]).toEqual(['HIT', tags[at], 0]);
    }
  });

  it('does not take the answer of a HEAD for that of another client', async () => {
    for (const [first, then] of [
      ['browser', 'curl'],
      ['curl', 'browser'],
    ] as const) {
      const path = `/${await compressed()}`;
      await nginx.get('greedy', path, clients[first], 'HEAD');
      const direct = shownIn(await rawGet(bed.api.url + path, clients[then]));
      expect(shownIn(await nginx.get('greedy', path, clients[then]))).toEqual(direct);
    }
  });

  it('shows nobody the page of a browser that is signed in', async () => {
    const code = await newPaste(bed.db, 'mine', { userId: user.id, visibility: 'private' });
    await upload(bed.db, bed.store, code, 'mine');
    for (const path of ['/', `/${code}`]) {
      expect((await nginx.get('greedy', path, signedIn())).body.toString()).toContain('<bdi>anna</bdi>');
      const anonymous = await nginx.get('greedy', path, BROWSER);
      expect([cacheOf(anonymous), anonymous.body.toString().includes('anna')]).toEqual(['MISS', false]);
      expect(anonymous.status).toBe(path === '/' ? 200 : 404);
    }
  });
});
