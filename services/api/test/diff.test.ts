import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { objectKeyOf } from '@pasteflow/domain';
import { blockContent, requestDeletion, takeDown } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { problemOf } from './support/http.ts';
import {
  deletedPaste,
  failedPaste,
  newPaste,
  pasteRow,
  processedPaste,
  upload,
  type Ownership,
} from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi({ contentWaitMs: 0 });
let owner: TestUser;
let other: TestUser;
beforeAll(async () => {
  owner = await newUser(bed.db);
  other = await newUser(bed.db);
});

const HTML = { accept: 'text/html' };
const get = (code: string, headers: Record<string, string> = {}, end = '/diff') =>
  fetch(`${bed.api.url}/${code}${end}`, { headers });

/** A paste and one that is made from it, both stored. */
async function pair(
  from: Buffer | string,
  to: Buffer | string,
  { parent = {}, child = {} }: { parent?: Ownership; child?: Ownership & { encrypted?: boolean } } = {},
): Promise<{ parent: string; child: string }> {
  const parentCode = await processedPaste(bed, from, parent);
  const childCode = await processedPaste(bed, to, { ...child, parent: parentCode });
  return { parent: parentCode, child: childCode };
}

const idOf = async (code: string): Promise<string> => (await pasteRow(bed.db, code))!.id;

describe('the diff of a paste and the one that it was made from', () => {
  it('counts the lines as the language of the page writes numbers', async () => {
    const { child } = await pair('old\n', 'new\n'.repeat(1200));
    const page = await (await get(child, { ...HTML, 'accept-language': 'de' })).text();
    expect(page).toContain('<dd>+1.200 hinzugefügt, -1 entfernt</dd>');
  });

  it('is a patch for curl, and a page for a browser, each with an ETag of its own', async () => {
    const { parent, child } = await pair('one\ntwo\nthree\n', 'one\n2\nthree\n');
    const patch = await get(child);
    expect(patch.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(patch.headers.get('vary')).toBe('Accept, Accept-Language, Cookie');
    expect(patch.headers.get('x-robots-tag')).toContain('noindex');
    expect(patch.headers.get('content-security-policy')).toContain('sandbox');
    expect(await patch.text()).toBe(`--- ${parent}\n+++ ${child}\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n`);
    const page = await get(child, HTML);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('vary')).toBe('Accept, Accept-Language, Cookie, Accept-Encoding');
    expect(page.headers.get('x-robots-tag')).toContain('noindex');
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
    const markup = await page.text();
    expect(markup).toContain('<del>two\n</del>');
    expect(markup).toContain('<ins>2\n</ins>');
    expect(markup).toContain(`href="/v1/pastes/${parent}/content"`);
    const [patchTag, pageTag] = [patch, page].map(({ headers }) => headers.get('etag')!) as [string, string];
    expect(patchTag).not.toBe(pageTag);
    const tags = `${patchTag}, ${pageTag}`;
    for (const headers of [{}, HTML]) {
      const again = await get(child, { ...headers, 'if-none-match': tags });
      expect([again.status, await again.text()]).toEqual([304, '']);
    }
    expect((await get(child, { 'if-none-match': pageTag })).status).toBe(200);
    const head = await fetch(`${bed.api.url}/${child}/diff`, { method: 'HEAD' });
    expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, patchTag, '']);
  });

  it('is reached from the page of the paste, and so is the parent', async () => {
    const { parent, child } = await pair('one\n', 'two\n');
    const page = await (await get(child, HTML, '')).text();
    expect(page).toContain(`>${parent}</a> (<a href="/${child}/diff" aria-keyshortcuts="d">changes</a>)`);
    expect(await (await get(parent, HTML, '')).text()).not.toContain('/diff');
  });

  it.each([
    [
      'bytes that are no text',
      Buffer.from([0, 255, 10, 13, 195, 10, 1]),
      Buffer.from([0, 254, 10, 13, 195, 10]),
    ],
    ['a last line without a newline', 'a\nb', 'a\nb\n'],
    ['CR LF and LF', 'a\r\nb\r\n', 'a\nb\r\n'],
    ['separators that are no newlines', 'a\u2028b\u0085c\vd\n', 'a\u2028b\u0085c\fd\n'],
    [
      'lines like those of a patch',
      '--- a\n+++ b\n@@ -1 +1 @@\n',
      '--- a\n@@ -1 +1 @@\n\\ No newline at end of file\n',
    ],
    ['far changes', `a\n${'x\n'.repeat(30)}b\n`, `A\n${'x\n'.repeat(30)}B\n`],
  ])('is a patch that makes the exact bytes: %s', async (_name, from, to) => {
    const { child } = await pair(from, to);
    const patch = Buffer.from(await (await get(child)).arrayBuffer());
    const folder = await mkdtemp(join(tmpdir(), 'patch-'));
    try {
      await writeFile(join(folder, 'text'), from);
      const run = spawnSync('patch', ['--binary', 'text'], { cwd: folder, input: patch });
      if (run.error !== undefined) return; // the machine has no patch
      expect([run.status, String(run.stderr)]).toEqual([0, '']);
      expect((await readFile(join(folder, 'text'))).equals(Buffer.from(to))).toBe(true);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is empty for equal content, and the page says that nothing has changed', async () => {
    const { child } = await pair('same\n', 'same\n');
    const patch = await get(child);
    expect([patch.status, await patch.text()]).toEqual([200, '']);
    const page = await (await get(child, HTML)).text();
    expect(page).toContain('<p class="notice">The texts are equal.</p>');
    expect(page).not.toContain('+0 added');
  });

  it('escapes hostile content and titles in the page, and names no title in the patch', async () => {
    const { child } = await pair(
      '<script>alert(1)</script>\n',
      '</pre><img src=x onerror=alert(1)>\u202e\0\n',
    );
    await sql`UPDATE pastes SET title = '<svg onload=alert(1)>' WHERE short_code = ${child}`.execute(bed.db);
    const page = await (await get(child, HTML)).text();
    expect(page).not.toMatch(/<script>alert|<img src=x|<svg onload|\0/);
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).toContain('change the direction of writing');
    expect(await (await get(child)).text()).not.toContain('svg');
  });

  it('shows a line that a browser has written with another line end as equal, and the patch has it', async () => {
    const { child } = await pair('one\r\ntwo\r\n', 'one\n2\n');
    const page = await (await get(child, HTML)).text();
    expect(page).toContain('different line ends');
    expect(page).toContain('-1 removed');
    expect(await (await get(child)).text()).toContain('-one\r\n-two\r\n+one\n+2\n');
  });

  it('is 404 for a paste that was not made from another, and as the paste itself for one that cannot be read', async () => {
    const alone = await processedPaste(bed, 'alone');
    for (const headers of [{}, HTML]) expect((await get(alone, headers)).status).toBe(404);
    expect(await problemOf(await get(alone))).toMatchObject({ code: 'no_diff' });
    expect(await problemOf(await get('doesNotExist'))).toMatchObject({ code: 'paste_not_found' });
    const failed = await failedPaste(bed.db, { parent: alone });
    expect(await problemOf(await get(failed))).toMatchObject({ code: 'paste_not_found' });
    const { child } = await pair('a', 'b');
    await requestDeletion(bed.db, await idOf(child));
    expect(await problemOf(await get(child))).toMatchObject({ status: 410 });
  });

  const by = { actor: 'ops/test', class: 'malware', reason: 'reported' } as const;
  const endings: readonly {
    readonly how: string;
    readonly end: (code: string) => Promise<unknown>;
    readonly status: number;
    readonly code: string;
  }[] = [
    {
      how: 'deleted',
      end: async (code) => await requestDeletion(bed.db, await idOf(code)),
      status: 410,
      code: 'paste_gone',
    },
    { how: 'a tombstone', end: (code) => deletedPaste(bed.db, code), status: 410, code: 'paste_gone' },
    { how: 'taken down', end: (code) => takeDown(bed.db, [code], by), status: 451, code: 'paste_taken_down' },
    {
      how: 'removed',
      end: (code) => sql`DELETE FROM pastes WHERE short_code = ${code}`.execute(bed.db),
      status: 404,
      code: 'no_diff',
    },
  ];
  it.each(endings)('says that the parent is gone: $how', async ({ end, status, code }) => {
    const { parent, child } = await pair('secret text\n', 'new text\n');
    const tag = (await get(child)).headers.get('etag')!;
    await end(parent);
    const problem = await problemOf(await get(child, { 'if-none-match': tag }));
    expect(problem).toMatchObject({ status, code });
    expect(problem.detail).toContain('that this one was made from');
    const page = await get(child, { ...HTML, 'if-none-match': tag });
    expect(page.status).toBe(status);
    const markup = await page.text();
    expect(markup).toContain('that this one was made from');
    expect(markup).not.toContain('secret text');
    expect((await get(child, HTML, '')).status).toBe(200);
  });

  it('is read only by those who can read both pastes, and is left in no cache if one of them is private', async () => {
    const ownership = { userId: owner.id, visibility: 'private' } as const;
    const unlisted = { userId: owner.id };
    for (const who of [
      { parent: ownership, child: unlisted },
      { parent: unlisted, child: ownership },
    ]) {
      const { child } = await pair('private text\n', 'other text\n', who);
      for (const accept of [{}, HTML]) {
        const own = await get(child, { ...owner.headers, ...accept });
        expect([own.status, own.headers.get('cache-control')]).toEqual([
          200,
          expect.stringContaining('no-store'),
        ]);
        for (const headers of [{}, other.headers]) {
          const refused = await get(child, { ...headers, ...accept });
          expect(refused.status).toBe(404);
          expect(await refused.text()).not.toContain(' text\n');
        }
      }
    }
    const { child } = await pair('a', 'b');
    expect((await get(child)).headers.get('cache-control')).toBe('private, no-cache, no-transform');
  });

  it('is refused for pastes that are deleted when they are read, and shows nothing of them', async () => {
    const parent = await processedPaste(bed, 'parent\n');
    const burn = await processedPaste(bed, 'the secret\n', { burn: true, parent });
    for (const headers of [{}, HTML]) {
      const answer = await get(burn, headers);
      expect([answer.status, await answer.text()]).toEqual([403, expect.not.stringContaining('the secret')]);
    }
    expect(await (await get(burn, HTML, '')).text()).not.toContain('/diff');
    expect((await pasteRow(bed.db, burn))!.burned_at).toBeNull();
  });

  it.each(['paste', 'parent'] as const)(
    'is refused when the %s is encrypted, and the page says why',
    async (which) => {
      const codes = await pair('a', 'b');
      const code = which === 'paste' ? codes.child : codes.parent;
      await sql`UPDATE pastes SET encrypted = true WHERE short_code = ${code}`.execute(bed.db);
      expect(await problemOf(await get(codes.child))).toMatchObject({
        status: 409,
        code: 'diff_unavailable',
      });
      const page = await get(codes.child, HTML);
      expect([page.status, await page.text()]).toEqual([409, expect.stringContaining('is encrypted')]);
    },
  );

  it.each([
    ['bytes', 'a'.repeat(256 * 1024 + 1), 'b'],
    ['lines', '\n'.repeat(5001), 'b'],
    [
      'moved lines',
      Array.from({ length: 5000 }, (_, n) => `${n}\n`).join(''),
      Array.from({ length: 5000 }, (_, n) => `${5000 - n}\n`).join(''),
    ],
  ])('is refused for too many %s, and the page links both texts', async (_name, from, to) => {
    const { parent, child } = await pair(from, to);
    expect(await problemOf(await get(child))).toMatchObject({ status: 409, code: 'diff_unavailable' });
    const page = await get(child, HTML);
    expect([page.status, page.headers.get('etag')]).toEqual([409, null]);
    const markup = await page.text();
    for (const code of [parent, child]) expect(markup).toContain(`href="/v1/pastes/${code}/content"`);
    expect(markup).toContain('compare them with diff');
  });

  it('is read also when one caller may hold less memory than both pastes take', async () => {
    const { child } = await pair('a'.repeat(2000), 'b'.repeat(2000));
    const api = await bed.start({ env: { MAX_DOWNLOAD_BYTES_IN_FLIGHT: '1000' } });
    for (const headers of [{}, HTML])
      expect((await fetch(`${api.url}/${child}/diff`, { headers })).status).toBe(200);
  });

  it('waits for uploads in progress: 503 for a program, and a page that reloads itself for a browser', async () => {
    const parent = await newPaste(bed.db, 'parent\n');
    const child = await newPaste(bed.db, 'child\n', { parent });
    for (const code of [child, parent]) {
      const answer = await get(child);
      expect([answer.status, answer.headers.get('retry-after'), await answer.text()]).toEqual([503, '1', '']);
      const page = await get(child, HTML);
      expect([page.status, await page.text()]).toEqual([
        200,
        expect.stringContaining(`data-events="/v1/pastes/${code}/events"`),
      ]);
      await upload(bed.db, bed.store, code, code === parent ? 'parent\n' : 'child\n');
    }
    expect((await get(child)).status).toBe(200);
  });

  it('is 503 when S3 has lost the content of one paste, and 410 when the paste was deleted meanwhile', async () => {
    const { parent, child } = await pair('a\n', 'b\n');
    await bed.store.deleteMany([objectKeyOf(parent)]);
    expect((await get(child)).status).toBe(503);
    await blockContent(bed.db, (await pasteRow(bed.db, child))!.content_hash, by);
    await requestDeletion(bed.db, await idOf(parent));
    expect((await get(child)).status).toBe(410);
  });
});
