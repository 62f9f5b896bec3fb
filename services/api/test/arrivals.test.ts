import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { useApi, type RunningApi } from './support/api.ts';
import { limited } from './support/limits.ts';
import { failedPaste, newPaste, processedPaste } from './support/pastes.ts';
import { rawGet } from './support/raw-get.ts';
import { BROWSER, browseAs } from './support/sign-in.ts';
import { newUser, signedInWith, type TestUser } from './support/users.ts';

const bed = useApi();

/** A browser that follows a link in a chat: without the cookie, which is SameSite=Strict. */
const ARRIVING = { ...BROWSER, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
const NEVER_MADE = 'n0neOfThem';

let owner: TestUser;
let member: TestUser;
let cookie: string;
beforeAll(async () => {
  owner = await newUser(bed.db);
  member = await newUser(bed.db);
  cookie = await signedInWith(bed.db, member.token);
});

beforeEach(async () => {
  await sql`TRUNCATE rate_limits`.execute(bed.db);
});

/** Not by fetch, which has a mode of its own. */
async function open(path: string, headers: Record<string, string> = ARRIVING, api: RunningApi = bed.api) {
  const answer = await rawGet(api.url + path, headers);
  return { ...answer, text: answer.body.toString() };
}

const forMembers = (): Promise<string> =>
  processedPaste(bed, 'for members', { userId: owner.id, visibility: 'members' });

/** All that an answer tells, but for the request's own. */
async function toldTo(path: string, name: string) {
  const { status, headers, text } = await open(path);
  const { 'x-request-id': _, date: __, ratelimit: ___, ...told } = headers;
  return { status, headers: told, body: text.replaceAll(name, 'NAME') };
}

const PATHS = [
  '',
  '.rs',
  '/timeline',
  '/history',
  '/diff',
  '/files/a',
  '/archive',
  '/image',
  '/new',
  '/edit',
];

describe('a browser that another site leads to what it cannot read', () => {
  it.each(PATHS)('gets one and the same page, which goes on, whatever is there: /CODE%s', async (rest) => {
    const hidden = { userId: owner.id, visibility: 'members' } as const;
    const codes = [
      await forMembers(),
      await processedPaste(bed, 'mine', { userId: owner.id, visibility: 'private' }),
      await failedPaste(bed.db, hidden),
      await newPaste(bed.db, 'x', hidden),
      await processedPaste(bed, 'once', { ...hidden, burn: true }),
    ];
    const unknown = await toldTo(`/${NEVER_MADE}${rest}`, NEVER_MADE);
    expect(unknown.status).toBe(404);
    expect(unknown.body).toContain(`<noscript><meta http-equiv="refresh" content="0; url=/NAME${rest}">`);
    expect(unknown.headers['cache-control']).toBe('no-store');
    for (const code of codes) expect(await toldTo(`/${code}${rest}`, code)).toEqual(unknown);
  });

  it('gets the page for a slug, too', async () => {
    const slug = 'for-team1';
    await processedPaste(bed, 'x', { userId: owner.id, visibility: 'members', slug });
    const unknown = await toldTo('/~of-nobody', 'of-nobody');
    expect(unknown.body).toContain('url=/~NAME"');
    expect(await toldTo(`/~${slug}`, slug)).toEqual(unknown);
  });

  it('then comes from our own page, as who it is: a member reads, and a stranger may sign in and come back', async () => {
    const code = await forMembers();
    const again = await browseAs(bed.api, cookie, `/${code}`);
    expect([again.status, await again.text()]).toEqual([200, expect.stringContaining('for members')]);
    const markup = (name: string) => expect.stringContaining(`data-back href="/session?next=%2F${name}"`);
    for (const name of [code, NEVER_MADE]) {
      const nobody = await open(`/${name}`, { ...BROWSER, 'sec-fetch-site': 'same-origin' });
      expect([nobody.status, nobody.text]).toEqual([404, markup(name)]);
    }
  });

  it('gets no compressed page then, whose length could tell another site what is in it', async () => {
    const code = await forMembers();
    const page = { ...BROWSER, cookie, 'sec-fetch-site': 'same-origin', 'accept-encoding': 'gzip' };
    for (const [referer, encoding] of [
      ['/', 'gzip'],
      [`/${code}?on`, undefined],
      [`/${code}`, undefined],
    ] as const) {
      const { status, headers } = await open(`/${code}`, { ...page, referer: bed.api.url + referer });
      expect([referer, status, headers['content-encoding']]).toEqual([referer, 200, encoding]);
    }
  });

  it('gets it for a page of users, too, instead of being asked to sign in', async () => {
    const response = await open('/my/jobs');
    expect([response.status, response.text]).toEqual([
      401,
      expect.stringContaining('content="0; url=/my/jobs"'),
    ]);
  });

  it('reads at once what everybody can read', async () => {
    const code = await processedPaste(bed, 'unlisted text');
    const response = await open(`/${code}`);
    expect([response.status, response.text]).toEqual([200, expect.stringContaining('unlisted text')]);
  });
});

describe('the page that goes on', () => {
  const problem = 'application/problem+json';
  it.each<readonly [string, Record<string, string>, string, string?]>([
    ['a program', { accept: '*/*' }, problem],
    ['a program that asks for pages', BROWSER, 'text/html; charset=utf-8'],
    ['a script of another site', { ...ARRIVING, 'sec-fetch-mode': 'cors' }, 'text/html; charset=utf-8'],
    ['an address that was typed', { ...ARRIVING, 'sec-fetch-site': 'none' }, 'text/html; charset=utf-8'],
    ['our own page', { ...ARRIVING, 'sec-fetch-site': 'same-origin' }, 'text/html; charset=utf-8'],
    ['the API', ARRIVING, problem, '/v1/pastes/'],
  ])('is not for %s', async (_name, headers, type, before = '/') => {
    const response = await open(before + NEVER_MADE, headers);
    expect([response.status, response.headers['content-type']]).toEqual([404, type]);
    expect(response.text).not.toContain('http-equiv');
  });

  it('waits to be asked at an address with a query, which the other site may have chosen', async () => {
    const member = await forMembers();
    const other = await processedPaste(bed, 'the older one');
    const asked = [];
    for (const code of [NEVER_MADE, member]) {
      const { status, text } = await open(`/${code}/diff?from=${other}`);
      expect(status).toBe(404);
      expect(text).toContain(`class="button primary" href="/${code}/diff?from=${other}"`);
      expect(text).not.toMatch(/http-equiv|arrival/);
      asked.push(text.replaceAll(code, 'NAME'));
    }
    expect(asked[1]).toBe(asked[0]);
    const here = `/${member}/diff?from=${other}`;
    const went = { ...BROWSER, cookie, 'sec-fetch-site': 'same-origin', 'accept-encoding': 'gzip' };
    const { status, headers, text } = await open(here, { ...went, referer: bed.api.url + here });
    expect([status, headers['content-encoding'], text.includes('the older one')]).toEqual([
      200,
      undefined,
      true,
    ]);
    expect((await open('/my/jobs?status=failed')).text).toContain('href="/my/jobs?status=failed"');
  });

  it('is not sent twice to a browser that tells a wrong site', async () => {
    const referer = `${bed.api.url}/${NEVER_MADE}?on`;
    expect((await open(`/${NEVER_MADE}`, { ...ARRIVING, referer })).text).not.toContain('http-equiv');
    const foreign = { ...ARRIVING, referer: 'http://chat.example/' };
    expect((await open(`/${NEVER_MADE}`, foreign)).text).toContain('http-equiv');
  });

  it('is not for who sends a token', async () => {
    const response = await open(`/${NEVER_MADE}`, { ...ARRIVING, ...member.headers });
    expect(response.text).not.toContain('http-equiv');
  });
});

describe('a guess', () => {
  const guessing = async () => await bed.start({ env: limited({ misses: 4 }) });
  const again = { ...BROWSER, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' };
  const leftOf = ({ headers }: Awaited<ReturnType<typeof open>>): number =>
    Number(/"misses";r=(\d+)/.exec(String(headers['ratelimit']))?.[1]);

  it('counts once, although the browser comes twice', async () => {
    const api = await guessing();
    expect(leftOf(await open('/guess00001', ARRIVING, api))).toBe(3);
    expect(leftOf(await open('/guess00001', again, api))).toBe(3);
    expect(leftOf(await open('/guess00001', again, api))).toBe(2); // which has come of itself
    expect(leftOf(await open('/guess00002', ARRIVING, api))).toBe(1);
    expect(leftOf(await open('/guess00002', again, api))).toBe(1);
  });

  it('at a request for secrets counts once, too', async () => {
    const api = await guessing();
    const guess = `/requests/${'g'.repeat(22)}`;
    expect(leftOf(await open(guess, ARRIVING, api))).toBe(3);
    expect(leftOf(await open(guess, again, api))).toBe(3);
    expect(leftOf(await open(guess, again, api))).toBe(2);
  });

  it('costs a member nothing who can read the paste', async () => {
    const api = await guessing();
    const code = await forMembers();
    for (let click = 0; click < 10; click += 1) {
      expect((await open(`/${code}`, ARRIVING, api)).status).toBe(404);
      expect((await browseAs(api, cookie, `/${code}`)).status).toBe(200);
    }
  });

  it('is refused after the limit, also of a browser that comes from another site each time', async () => {
    const api = await guessing();
    const statuses: number[] = [];
    for (let guess = 0; guess < 6; guess += 1)
      statuses.push((await open(`/guess0000${guess}`, ARRIVING, api)).status);
    expect(statuses).toEqual([404, 404, 404, 404, 429, 429]);
  });
});
