import { expect, it } from '@jest/globals';
import type { Visibility } from '@pasteflow/domain';
import { createPaste } from '@pasteflow/postgres';
import { useApi } from './support/api.ts';
import { processedPaste, sha256 } from './support/pastes.ts';
import { newUser, signedInWith } from './support/users.ts';

const bed = useApi();

it('own pastes are filtered by visibility and by language, on the page and in the API', async () => {
  const user = await newUser(bed.db);
  const cookie = await signedInWith(bed.db, user.token);
  const titled = async (title: string, visibility: Visibility = 'private'): Promise<string> => {
    const shortCode = sha256(title).toString('hex').slice(0, 10);
    await createPaste(bed.db, {
      shortCode,
      content: Buffer.from('x'),
      contentHash: `sha256:${'0'.repeat(64)}`,
      title,
      syntax: null,
      expiresInSeconds: null,
      userId: user.id,
      visibility,
      deleteTokenHash: null,
    });
    return shortCode;
  };
  const textOf = async (path: string) => {
    const headers = { accept: 'text/html', cookie, 'sec-fetch-site': 'same-origin' };
    return await (await fetch(bed.api.url + path, { headers })).text();
  };
  const codesOf = async (query: string) => {
    const markup = await textOf(`/my/pastes?${query}`);
    const onPage = [...markup.matchAll(/name="short_code" value="(\w+)"/g)].map(([, code]) => code);
    const listed = await fetch(`${bed.api.url}/v1/pastes?${query}`, { headers: user.headers });
    const { pastes } = (await listed.json()) as { pastes: { short_code: string }[] };
    expect(pastes.map(({ short_code: code }) => code)).toEqual(onPage);
    return onPage;
  };
  const [rust, note] = [await titled('main.rs'), await titled('note')];
  const shared = await titled('lib.rs', 'unlisted');
  expect(await codesOf('visibility=private')).toEqual([note, rust]);
  expect(await codesOf('visibility=unlisted')).toEqual([shared]);
  expect(await codesOf('syntax=RS')).toEqual([shared, rust]);
  expect(await codesOf('visibility=private&syntax=rust')).toEqual([rust]);
  expect(await codesOf('syntax=klingon')).toEqual([]);
  for (const wrong of ['visibility=x', 'syntax=%00', `syntax=${'x'.repeat(51)}`])
    expect((await fetch(`${bed.api.url}/v1/pastes?${wrong}`, { headers: user.headers })).status).toBe(422);
  const ofMac = await titled('e\u0301te\u0301.conf');
  const greek = await titled('\u03a3\u039f\u03a6\u039f\u03a3');
  const nginx = await titled('sites/nginx.conf');
  expect(await codesOf('syntax=ini')).toEqual([ofMac]);
  expect(await codesOf('syntax=nginx')).toEqual([nginx]);
  for (const [q, found] of [
    ['MAIN', [rust]],
    ['\u00c9t\u00e9', [ofMac]],
    ['\u03c3\u03bf\u03c6\u03cc\u03c2'.replace('\u03cc', '\u03bf'), [greek]],
    ['.rs', [shared, rust]],
    ['%', []],
  ] as const) {
    const listed = await fetch(`${bed.api.url}/v1/pastes?q=${encodeURIComponent(q)}`, {
      headers: user.headers,
    });
    const { pastes } = (await listed.json()) as { pastes: { short_code: string }[] };
    expect(pastes.map(({ short_code: code }) => code)).toEqual(found);
  }
  const form = await textOf('/my/pastes?visibility=private&syntax=rust&title=');
  for (const chosen of ['value="private" selected', 'value="rust" selected']) expect(form).toContain(chosen);
});

it('own pastes that can be read once, and encrypted ones, have their badges', async () => {
  const user = await newUser(bed.db);
  const cookie = await signedInWith(bed.db, user.token);
  await processedPaste(bed, 'x', { userId: user.id, burn: true });
  const code = await processedPaste(bed, 'x', { userId: user.id });
  await bed.db.updateTable('pastes').set({ encrypted: true }).where('short_code', '=', code).execute();
  const headers = { accept: 'text/html', cookie, 'sec-fetch-site': 'same-origin' };
  const markup = await (await fetch(`${bed.api.url}/my/pastes`, { headers })).text();
  const badges = [...markup.matchAll(/<span class="badge (\w+)">/g)].map(([, name]) => name);
  expect(badges).toEqual(['encrypted', 'burn']);
});
