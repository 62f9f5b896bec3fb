import { beforeAll, expect, it } from '@jest/globals';
import { objectKeyOf, placedFiles } from '@pasteflow/domain';
import { takeDown } from '@pasteflow/postgres';
import { useApi } from './support/api.ts';
import { deletedPaste, failedPaste, newPaste, processedPaste, settle } from './support/pastes.ts';
import { rawGet } from './support/raw-get.ts';
import { newUser, signedInWith } from './support/users.ts';

const bed = useApi({ contentWaitMs: 1 });
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const CONTENT = 'one' + 'two';
const files = placedFiles(['a', 'b/c'].map((name) => ({ name, size: 3, syntax: null })));

const browse = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  rawGet(bed.api.url + path, { ...BROWSER, ...headers }, method);
const stored = (options = {}) => processedPaste(bed, CONTENT, { files, ...options });

let code = '';
beforeAll(async () => {
  code = await stored();
});

const ofPage = [
  'content-type',
  'cache-control',
  'content-security-policy',
  'cross-origin-opener-policy',
  'referrer-policy',
  'x-content-type-options',
  'x-robots-tag',
  'vary',
];
const ofContent = ['etag', 'accept-ranges', 'content-disposition', 'content-encoding', 'content-range'];

/** The page of an error, as the page of the same paste has one, and nothing of a content. */
async function expectPage(path: string, status: number, headers: Record<string, string> = {}) {
  const [answer, known] = [await browse(path, headers), await browse('/n0neOfThem')];
  const pick = (of: typeof answer, names: readonly string[]) => names.map((name) => of.headers[name]);
  expect([path, answer.status, pick(answer, ofPage)]).toEqual([path, status, pick(known, ofPage)]);
  const left = ofContent.filter((name) => name !== 'content-range' || status !== 416);
  expect([path, pick(answer, left)]).toEqual([path, left.map(() => undefined)]);
  expect(answer.headers['content-length']).toBe(String(answer.body.length));
  const page = answer.body.toString();
  expect(page).toMatch(/<h1>(<span class="status">\d+<\/span>|The upload of this paste failed)/);
  expect(page.endsWith('</html>\n')).toBe(true);
  return { page, headers: answer.headers };
}

const pathsOf = (of: string): readonly string[] => [`/${of}/archive`, `/${of}/files/a`, `/${of}/image`];

it('a browser gets the bytes of a file, an archive or an image as everybody does', async () => {
  for (const path of pathsOf(code)) {
    const [answer, other] = [await browse(path), await rawGet(bed.api.url + path)];
    expect(answer.body.equals(other.body)).toBe(true);
    const volatile = { date: '', 'x-request-id': '', ratelimit: '' };
    expect([answer.status, { ...answer.headers, ...volatile }]).toEqual([
      200,
      { ...other.headers, ...volatile },
    ]);
    expect(answer.headers['content-security-policy']).toContain('sandbox');
  }
});

it('a browser gets a page for a paste that it cannot read, as at its address', async () => {
  const [takenDown, deleted] = [await stored(), await stored()];
  const reasons = { actor: 'operator', reason: 'spam', class: 'spam' } as const;
  await takeDown(bed.db, [takenDown], reasons);
  await deletedPaste(bed.db, deleted);
  const failed = await failedPaste(bed.db, {
    files: placedFiles([3, 2].map((size) => ({ name: `${size}`, size, syntax: null }))),
  });
  const { id: userId } = await newUser(bed.db);
  const hidden = await stored({ userId, visibility: 'private' });
  for (const [of, status] of [
    ['n0neOfThem', 404],
    [hidden, 404],
    [failed, 404],
    [deleted, 410],
    [takenDown, 451],
  ] as const)
    for (const path of [`/${of}`, ...pathsOf(of)]) await expectPage(path, status);
});

it('the page of a file that is not there leads to the paste', async () => {
  const plain = await processedPaste(bed, 'x');
  const once = await stored({ burn: true });
  for (const [path, status] of [
    [`/${code}/files/none`, 404],
    [`/${plain}/files/none`, 404],
    [`/${plain}/archive`, 409],
    [`/${once}/archive`, 403],
    [`/${once}/files/a`, 403],
  ] as const) {
    const { page } = await expectPage(path, status);
    expect(page).toContain(`<a class="button" href="${path.slice(0, path.indexOf('/', 1))}">`);
  }
});

it('the page of a condition or a range that does not hold has nothing of the file', async () => {
  await expectPage(`/${code}/files/a`, 412, { 'if-match': '"0"' });
  const { headers } = await expectPage(`/${code}/files/a`, 416, { range: 'bytes=9-10' });
  expect(headers['content-range']).toBe('bytes */3');
});

it('a browser gets a page while an upload is in progress, and when S3 has no object', async () => {
  const pending = await newPaste(bed.db, CONTENT, { files });
  for (const path of pathsOf(pending)) {
    const { headers, page } = await expectPage(path, 503);
    expect([headers['retry-after'], page.includes('not stored yet')]).toEqual(['1', true]);
    expect((await rawGet(bed.api.url + path)).body).toHaveLength(0);
  }
  const lost = await newPaste(bed.db, CONTENT, { files });
  await settle(bed.db, lost, bed.store.urlOf(objectKeyOf(lost)));
  for (const path of pathsOf(lost)) await expectPage(path, 503);
});

it('the page names who is signed in, and is kept by no browser', async () => {
  const user = await newUser(bed.db, { name: 'Ada' });
  const cookie = await signedInWith(bed.db, user.token);
  const signedIn = { cookie, 'sec-fetch-site': 'same-origin' };
  const { headers, body } = await browse(`/${code}/files/none`, signedIn);
  expect([headers['cache-control'], body.toString().includes('Ada')]).toEqual(['no-store', true]);
});

it('programs get a problem document, and HEAD gets no body', async () => {
  for (const path of [`/${code}/files/none`, `/n0neOfThem/archive`]) {
    const { headers } = await rawGet(bed.api.url + path);
    expect(headers['content-type']).toBe('application/problem+json');
    const { status, body } = await browse(path, {}, 'HEAD');
    expect([status, body.length]).toEqual([404, 0]);
  }
  for (const path of [`/v1/pastes/${code}/files/none`, `/v1/pastes/n0neOfThem/archive`])
    expect((await browse(path)).headers['content-type']).toBe('application/problem+json');
});
