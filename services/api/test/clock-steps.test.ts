import { randomBytes } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { takeDown } from '@pasteflow/postgres';
import { stepClockBack } from '@pasteflow/postgres/testing';
import { useApi } from './support/api.ts';
import { document } from './support/document.ts';
import { ownForm } from './support/http.ts';
import { newPaste, processedPaste } from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi();
const HTML = { accept: 'text/html' };

/** The GET routes that name a paste. */
const reads = Object.entries(document.paths)
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
const by = { actor: 'ops/test', class: 'malware', reason: 'reported' } as const;

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
