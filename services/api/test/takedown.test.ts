import { describe, expect, it } from '@jest/globals';
import { FaultProxy } from '@pasteflow/dev-stack/testing';
import { objectKeyOf } from '@pasteflow/domain';
import { blockContent, takeDown, unblockContent } from '@pasteflow/postgres';
import { stepClockBack } from '@pasteflow/postgres/testing';
import { contentHashOf } from '@pasteflow/service-kit';
import { sql } from 'kysely';
import { randomBytes } from 'node:crypto';
import { useApi } from './support/api.ts';
import { wholeDocument } from './support/document.ts';
import { ownForm, postJson, postRaw, problemOf } from './support/http.ts';
import { expire, failedPaste, newPaste, processedPaste } from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi();
const by = { actor: 'ops/test', class: 'malware', reason: 'the words of the operator' } as const;
const takeDownPaste = (code: string) => takeDown(bed.db, [code], by);

describe('a paste that was taken down', () => {
  it('is answered 451 with the class of the reason on every route, in every form, and never with the words of the operator', async () => {
    const expired = await processedPaste(bed, 'expired');
    await expire(bed.db, expired);
    const codes = [await newPaste(bed.db), await processedPaste(bed, 'bytes that are still in S3'), expired];
    for (const code of codes) {
      await takeDownPaste(code);
      const paths = [
        `/${code}`,
        `/${code}/timeline`,
        ...['', '/content', '/timeline', '/events'].map((end) => `/v1/pastes/${code}${end}`),
      ];
      for (const path of paths) {
        const answer = await fetch(bed.api.url + path, {
          headers: { 'if-none-match': '*', range: 'bytes=0-0' },
        });
        const text = await answer.clone().text();
        expect([path, await problemOf(answer)]).toMatchObject([
          path,
          { status: 451, code: 'paste_taken_down', takedown_class: 'malware' },
        ]);
        expect(text).not.toContain(by.reason);
        expect(answer.headers.get('etag')).toBeNull();
      }
      const page = await fetch(`${bed.api.url}/${code}`, { headers: { accept: 'text/html' } });
      const markup = await page.text();
      expect([page.status, page.headers.get('content-type')]).toEqual([451, 'text/html; charset=utf-8']);
      expect(markup).toContain('took this paste down because its content is malware');
      expect(markup).not.toContain(by.reason);
      const removal = { method: 'DELETE', headers: { 'delete-token': 'the token' } };
      expect((await fetch(`${bed.api.url}/v1/pastes/${code}`, removal)).status).toBe(451);
    }
  });

  it('stays the 404 of an unknown paste when its upload has failed, because it never had content', async () => {
    const code = await failedPaste(bed.db);
    await takeDownPaste(code);
    expect((await fetch(`${bed.api.url}/${code}`)).status).toBe(404);
    expect((await fetch(`${bed.api.url}/v1/pastes/${code}`)).status).toBe(451);
  });

  it('is answered 451 when its object was deleted between the statement and the request to S3', async () => {
    const proxy = await FaultProxy.start(bed.stack.aws.endpoint);
    const api = await bed.start({ env: { AWS_ENDPOINT_URL_S3: proxy.url } });
    const code = await processedPaste(bed, 'on its way out');
    const held = proxy.hold({ method: 'GET' });
    const answer = fetch(`${api.url}/${code}`);
    const request = await held;
    await takeDownPaste(code);
    await bed.store.deleteMany([objectKeyOf(code)]);
    await request.forward();
    expect(await problemOf(await answer)).toMatchObject({ status: 451 });
    await proxy.stop();
  });
});

describe('a takedown while the paste is read', () => {
  /** More than the sockets between S3, the api and a reader hold, so that the api still reads from S3. */
  const long = randomBytes(8 * 1024 * 1024);

  it('lets a download that began before go on to its end, also when the object is deleted, and lets none begin', async () => {
    const code = await processedPaste(bed, long);
    const before = await fetch(`${bed.api.url}/${code}`);
    await takeDownPaste(code);
    await bed.store.deleteMany([objectKeyOf(code)]);
    expect(await problemOf(await fetch(`${bed.api.url}/${code}`))).toMatchObject({ status: 451 });
    expect(before.status).toBe(200);
    expect(long.equals(Buffer.from(await before.arrayBuffer()))).toBe(true);
  });

  it('answers a read whole that found the paste before, and refuses the next one, also of content in memory', async () => {
    const proxy = await FaultProxy.start(bed.stack.aws.endpoint);
    const api = await bed.start({ env: { AWS_ENDPOINT_URL_S3: proxy.url } });
    const code = await processedPaste(bed, 'short');
    const held = proxy.hold({ method: 'GET' });
    const answer = fetch(`${api.url}/${code}`);
    const request = await held;
    await takeDownPaste(code);
    await request.forward();
    expect(await (await answer).text()).toBe('short');
    expect((await fetch(`${api.url}/${code}`)).status).toBe(451);
    await proxy.stop();
  });

  it('answers 451 to each of many reads that begin after it was confirmed', async () => {
    const code = await processedPaste(bed, 'read by many');
    let isConfirmed = false;
    const seen: (readonly [beganAfter: boolean, status: number])[] = [];
    const isDone = () => seen.filter(([beganAfter]) => beganAfter).length >= 40;
    const reader = async () => {
      while (!isDone()) {
        const beganAfter = isConfirmed;
        const answer = await fetch(`${bed.api.url}/${code}`);
        await answer.arrayBuffer();
        seen.push([beganAfter, answer.status]);
      }
    };
    const readers = Promise.all(Array.from({ length: 8 }, reader));
    while (seen.length < 20) await new Promise((resolve) => setImmediate(resolve));
    await takeDownPaste(code);
    isConfirmed = true;
    await readers;
    const statuses = (after: boolean) =>
      new Set(seen.filter(([beganAfter]) => beganAfter === after).map(([, status]) => status));
    expect(statuses(true)).toEqual(new Set([451]));
    expect(statuses(false)).toContain(200);
  });
});

describe('a blocked content', () => {
  const hash = contentHashOf(Buffer.from('bad'));

  it('is refused with 403 in every form, creates nothing, and is accepted again when the block is lifted', async () => {
    await blockContent(bed.db, hash, by);
    const count = async () => (await sql`SELECT FROM pastes`.execute(bed.db)).rows.length;
    const before = await count();
    const answers = [
      await postJson(bed.api.url, { content: 'bad' }),
      await postRaw(bed.api.url, 'bad'),
      await fetch(bed.api.url, { method: 'POST', body: 'bad' }),
    ];
    for (const answer of answers) {
      const text = await answer.clone().text();
      expect(await problemOf(answer)).toMatchObject({ status: 403, code: 'content_blocked' });
      expect(text).not.toContain(by.reason);
    }
    const form = new FormData();
    form.set('text', 'bad');
    const page = await fetch(bed.api.url, { method: 'POST', body: form, headers: { accept: 'text/html' } });
    expect([page.status, await page.text()]).toEqual([
      403,
      expect.stringContaining('has blocked this content'),
    ]);
    expect(await count()).toBe(before);
    expect((await postRaw(bed.api.url, 'bad and more')).status).toBe(201);
    await unblockContent(bed.db, hash, { actor: 'ops/test', reason: 'a mistake' });
    expect((await postRaw(bed.api.url, 'bad')).status).toBe(201);
  });

  it('costs no other creation that arrives at the same time', async () => {
    await blockContent(bed.db, hash, by);
    const texts = Array.from({ length: 60 }, (_, n) => (n % 20 === 7 ? 'bad' : `good ${n}`));
    const answers = await Promise.all(texts.map((content) => postRaw(bed.api.url, content)));
    expect(answers.map(({ status }) => status)).toEqual(
      texts.map((content) => (content === 'bad' ? 403 : 201)),
    );
    await unblockContent(bed.db, hash, { actor: 'ops/test', reason: 'a mistake' });
  });

  it('is refused with an Idempotency-Key, which can be used again for other content', async () => {
    await blockContent(bed.db, hash, by);
    const headers = { 'idempotency-key': 'blocked-and-then-not' };
    const post = (content: string) =>
      fetch(`${bed.api.url}/v1/pastes`, { method: 'POST', body: content, headers });
    expect((await post('bad')).status).toBe(403);
    expect((await post('good')).status).toBe(201);
    await unblockContent(bed.db, hash, { actor: 'ops/test', reason: 'a mistake' });
  });
});

const HTML = { accept: 'text/html' };

/** The GET routes that name a paste. */
const reads = Object.entries(wholeDocument().document.paths)
  .filter(([path, item]) => path.includes('{short_code}') && item['get'] !== undefined)
  .map(([path]) => path);

/**
 * The status of each way to read a paste, by its short code and by its slug, as a program and as a browser,
 * and to make something of it.
 */
async function statusesOf(code: string, slug: string, user: TestUser): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {};
  const note = async (name: string, url: string, init: RequestInit = {}) => {
    const headers = { ...user.headers, ...(init.headers as Record<string, string>) };
    const answer = await fetch(bed.api.url + url, { redirect: 'manual', ...init, headers });
    statuses[name] = answer.status;
    await answer.body?.cancel();
  };
  for (const named of [code, `~${slug}`])
    for (const path of reads)
      for (const headers of [{}, HTML]) {
        const url = path.replace('{short_code}', named);
        await note(`${url} ${JSON.stringify(headers)}`, url, { headers });
      }
  await note('wait', `/v1/pastes/${code}`, { headers: { prefer: 'wait=1' } });
  await note('conditional', `/v1/pastes/${code}/content`, { headers: { 'if-none-match': '*' } });
  await note('range', `/${code}`, { headers: { range: 'bytes=0-0' } });
  const child = { content: 'a child', parent: code };
  await note('child', '/v1/pastes', {
    method: 'POST',
    body: JSON.stringify(child),
    headers: { 'content-type': 'application/json' },
  });
  return statuses;
}

/** The headers of a browser that the user has signed in. */
async function signedIn(user: TestUser): Promise<Record<string, string>> {
  const form = ownForm(bed.api.url, { token: user.token });
  const { headers } = await fetch(`${bed.api.url}/session`, { ...form, redirect: 'manual' });
  const [cookie] = headers.get('set-cookie')!.split(';');
  return { ...HTML, cookie: cookie!, 'sec-fetch-site': 'same-origin' };
}

async function listed(user: TestUser, browser: Record<string, string>, code: string): Promise<boolean[]> {
  const pages = ['/my/pastes', '/my/pastes?title=secret'].map((path) => [path, browser] as const);
  const texts = [['/v1/pastes', user.headers] as const, ...pages].map(async ([path, headers]) => {
    return await (await fetch(bed.api.url + path, { headers })).text();
  });
  return (await Promise.all(texts)).map((text) => text.includes(code));
}

const remove = (code: string, user: TestUser) =>
  fetch(`${bed.api.url}/v1/pastes/${code}`, { method: 'DELETE', headers: user.headers });
const confirm = (code: string, _user: TestUser, browser: Record<string, string>) => {
  const form = ownForm(bed.api.url, { short_code: code, confirmed: 'yes' });
  const headers = { ...browser, ...(form.headers as Record<string, string>) };
  return fetch(`${bed.api.url}/my/pastes/delete`, { ...form, headers, redirect: 'manual' });
};

it.each([
  ['PROCESSED', 'its user deleted', remove, 204],
  ['IN_PROGRESS', 'its user deleted', remove, 204],
  ['PROCESSED', 'its user deleted in the list', confirm, 303],
  ['PROCESSED', 'an operator took down', (code: string) => takeDown(bed.db, [code], by), undefined],
] as const)(
  'when the clock of Postgres steps back by an hour, no route serves a %s paste that %s',
  async (status, _how, deleteIt, expected) => {
    const user = await newUser(bed.db);
    const slug = `a-${randomBytes(5).toString('hex')}`;
    const parent = await processedPaste(bed, 'the parent');
    const options = { userId: user.id, slug, parent };
    const code =
      status === 'PROCESSED'
        ? await processedPaste(bed, 'a secret', options)
        : await newPaste(bed.db, 'a secret', options);
    await bed.db.updateTable('pastes').set({ title: 'a secret' }).where('short_code', '=', code).execute();
    const browser = await signedIn(user);
    expect(await listed(user, browser, code)).toEqual([true, true, true]);

    const answer = await deleteIt(code, user, browser);
    expect(answer instanceof Response ? answer.status : undefined).toBe(expected);
    const before = await statusesOf(code, slug, user);
    expect(Object.keys(before).length).toBeGreaterThan(20);
    expect(Object.entries(before).filter(([, each]) => ![404, 410, 422, 451].includes(each))).toEqual([]);
    await stepClockBack(bed.db, 3600);
    expect(await statusesOf(code, slug, user)).toEqual(before);
    expect(await listed(user, browser, code)).toEqual([false, false, false]);
    expect((await remove(code, user)).status).toBe(before['wait']);
  },
);
