import { beforeAll, describe, expect, it } from '@jest/globals';
import { requestDeletion } from '@pasteflow/postgres';
import { useApi } from './support/api.ts';
import { problemOf } from './support/http.ts';
import { failedPaste, pasteRow, processedPaste, type Ownership } from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi({ contentWaitMs: 0 });
let owner: TestUser;
beforeAll(async () => {
  owner = await newUser(bed.db);
});

const HTML = { accept: 'text/html' };
const get = (code: string, headers: Record<string, string> = {}, end = '/diff') =>
  fetch(`${bed.api.url}/${code}${end}`, { headers });

/** A paste and one that is made from it, both stored. */
async function pair(
  from: string,
  to: string,
  child: Ownership = {},
): Promise<{ parent: string; child: string }> {
  const parent = await processedPaste(bed, from);
  return { parent, child: await processedPaste(bed, to, { ...child, parent }) };
}

describe('the diff of any two pastes', () => {
  it('compares any two pastes that the caller can read, in both directions', async () => {
    const { parent, child } = await pair('one\n', 'two\n');
    const any = await processedPaste(bed, 'three\n');
    expect(await (await get(any, {}, `/diff?from=${child}`)).text()).toContain('-two\n+three\n');
    expect(await (await get(parent, {}, `/diff?from=${child}`)).text()).toContain('-two\n+one\n');
    const page = await (await get(any, HTML, `/diff?from=${child}`)).text();
    expect(page).toContain('<del>two\n</del>');
    expect(page).toContain(`/${any}/diff?from=${child}&#39;`); // the command for the patch
  });

  it('does not compare with what the caller cannot read, and counts guesses', async () => {
    const code = await processedPaste(bed, 'one\n');
    const secret = await processedPaste(bed, 'secret\n', { userId: owner.id, visibility: 'private' });
    const failed = await failedPaste(bed.db, {});
    const own = await get(code, owner.headers, `/diff?from=${secret}`);
    expect([await own.text(), own.headers.get('cache-control')]).toEqual([
      expect.stringContaining('-secret'),
      expect.stringContaining('no-store'),
    ]);
    const problems = [];
    for (const from of [secret, failed, 'doesNotExist', '../x']) {
      const { status, code: problem, detail } = await problemOf(await get(code, {}, `/diff?from=${from}`));
      problems.push({ status, problem, detail });
    }
    expect(new Set(problems.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(problems[0]).toMatchObject({ status: 404, problem: 'paste_not_found' });
    const burn = await processedPaste(bed, 'once\n', { burn: true });
    expect((await get(code, {}, `/diff?from=${burn}`)).status).toBe(403);
    const gone = await processedPaste(bed, 'gone\n');
    await requestDeletion(bed.db, (await pasteRow(bed.db, gone))!.id);
    expect((await get(code, {}, `/diff?from=${gone}`)).status).toBe(410);
    expect((await pasteRow(bed.db, burn))!.burned_at).toBeNull();
    const limited = await bed.start({ env: { RATE_LIMIT_MISSES_PER_MINUTE: '2' } });
    const guess = (from: string) => fetch(`${limited.url}/${code}/diff?from=${from}`);
    for (const from of ['doesNotExi1', 'doesNotExi2']) await guess(from);
    expect((await guess(code)).status).toBe(429);
  });

  it('says who has made each of the two, and leads back', async () => {
    const { parent, child } = await pair('let wait = 1;\n', 'let wait = 2;\n', { userId: owner.id });
    const page = await (await get(child, { ...HTML, ...owner.headers })).text();
    expect(page).toContain('<del>let wait = <mark>1</mark>;\n</del>');
    expect(page).toMatch(new RegExp(`href="/${parent}">.* anonymous, <time`));
    expect(page).toMatch(new RegExp(`href="/${child}">.* by you, <time`));
    expect(page).toContain(`<a href="/${child}">← Back to the paste</a>`);
    expect(await (await get(child, HTML)).text()).toMatch(/by its owner, <time/);
  });
});
