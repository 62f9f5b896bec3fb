import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it, test } from '@jest/globals';
import type { PasteFile, Visibility } from '@pasteflow/domain';
import {
  createPaste,
  ensureUser,
  requestDeletions,
  revealPaste,
  findOwnPastes,
  searchPastes,
  searchPastesByExpiry,
  type PageRequest,
} from '../../src/index.ts';
import { makePastes, makeUsers } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase();
const newUser = () => ensureUser(current.db, randomUUID());

const anyPaste = { status: null, title: null, visibility: null, language: null };

async function newPaste(
  userId: string,
  title: string | null,
  {
    visibility = 'private',
    syntax = null,
    expiresInSeconds = null,
    files = null,
  }: {
    visibility?: Visibility;
    syntax?: string | null;
    expiresInSeconds?: number | null;
    files?: readonly PasteFile[] | null;
  } = {},
): Promise<string> {
  const shortCode = randomBytes(5).toString('hex');
  await createPaste(current.db, {
    userId,
    visibility,
    shortCode,
    content: Buffer.from('x'),
    contentHash: `sha256:${'0'.repeat(64)}`,
    title,
    syntax,
    expiresInSeconds,
    files,
    deleteTokenHash: null,
  });
  return shortCode;
}

/** The titles of each page. */
async function pagesOf(userId: string, title: string, limit: number, maxScanned: number) {
  const pages: (string | null)[][] = [];
  let after: PageRequest['after'] = null;
  do {
    const { rows, next } = await searchPastes(
      current.db,
      { ...anyPaste, userId, title },
      { limit, after },
      maxScanned,
    );
    pages.push(rows.map((row) => row.title));
    after = next;
  } while (after !== null);
  return pages;
}

describe('searchPastes', () => {
  it('finds a text in the title, in any case, and takes it literally', async () => {
    const userId = await newUser();
    for (const title of ['Notes 100%', null, 'more NOTES', 'other', 'note_s']) await newPaste(userId, title);
    await newPaste(await newUser(), 'notes of somebody else');
    expect(await pagesOf(userId, 'notes', 10, 100)).toEqual([['more NOTES', 'Notes 100%']]);
    expect(await pagesOf(userId, '%', 10, 100)).toEqual([['Notes 100%']]);
    expect(await pagesOf(userId, '_', 10, 100)).toEqual([['note_s']]);
    expect(await pagesOf(userId, 'missing', 10, 100)).toEqual([[]]);
  });

  it('goes on after each page, and where a search stopped, and shows each paste once', async () => {
    const userId = await newUser();
    const titles = ['a 1', 'b', 'a 2', 'b', 'b', 'b', 'a 3', 'a 4'];
    for (const title of titles) await newPaste(userId, title);
    expect(await pagesOf(userId, 'a', 1, 100)).toEqual([['a 4'], ['a 3'], ['a 2'], ['a 1']]);
    expect(await pagesOf(userId, 'a', 10, 3)).toEqual([['a 4', 'a 3'], ['a 2'], ['a 1']]);
    expect((await pagesOf(userId, 'a', 1, 2)).flat()).toEqual(['a 4', 'a 3', 'a 2', 'a 1']);
  });

  it('filters by visibility, and by language: the syntax, or else the title as the name of a file', async () => {
    const userId = await newUser();
    await newPaste(userId, 'a', { syntax: 'Rust ' });
    await newPaste(userId, 'b', { syntax: 'rs', visibility: 'unlisted' });
    await newPaste(userId, 'src/lib.RS');
    await newPaste(userId, 'Dockerfile');
    await newPaste(userId, 'main.rs', { syntax: 'text' });
    await newPaste(userId, 'rust');
    await newPaste(userId, null);
    const titles = async (search: object, after: PageRequest['after'] = null): Promise<(string | null)[]> => {
      const { rows, next } = await searchPastes(
        current.db,
        { ...anyPaste, userId, ...search },
        { limit: 2, after },
      );
      return [...rows.map(({ title }) => title), ...(next === null ? [] : await titles(search, next))];
    };
    const rust = { syntaxes: ['rust', 'rs'], filePattern: String.raw`^(?:.*\.)?rs$` };
    expect(await titles({ language: rust })).toEqual(['src/lib.RS', 'b', 'a']);
    expect(await titles({ language: { syntaxes: [], filePattern: '^dockerfile$' } })).toEqual(['Dockerfile']);
    expect(await titles({ visibility: 'unlisted' })).toEqual(['b']);
    expect(await titles({ visibility: 'private', language: rust, title: 'LIB' })).toEqual(['src/lib.RS']);
  });

  it('finds a paste by the name and by the language of one of its files, once', async () => {
    const userId = await newUser();
    const file = (name: string, syntax: string | null = null, offset = 0): PasteFile => ({
      name,
      offset,
      size: offset === 0 ? 1 : 0,
      syntax,
    });
    await newPaste(userId, 'all.py', { files: [file('src/Größe.RS'), file('main.rs', 'rust', 1)] });
    await newPaste(userId, null, { files: [file('a'), file('main.rs', 'text', 1)] });
    await newPaste(userId, 'src/lib.rs');
    const found = async (search: object) => {
      const page = { limit: 5, after: null };
      const { rows } = await searchPastes(current.db, { ...anyPaste, userId, ...search }, page);
      return rows.map(({ title }) => title);
    };
    expect(await found({ title: 'GRO\u0308SSE' })).toEqual([]);
    expect(await found({ title: 'gro\u0308\u00dfe' })).toEqual(['all.py']);
    expect(await found({ title: 'main' })).toEqual([null, 'all.py']);
    expect(await found({ title: 'syntax' })).toEqual([]);
    const rust = { syntaxes: ['rust', 'rs'], filePattern: String.raw`^(?:.*\.)?rs$` };
    expect(await found({ language: rust })).toEqual(['src/lib.rs', 'all.py']);
    expect(await found({ language: { syntaxes: ['python'], filePattern: String.raw`\.py$` } })).toEqual([]);
  });

  it('filters by status', async () => {
    const userId = await newUser();
    await newPaste(userId, 'a');
    const find = (status: 'IN_PROGRESS' | 'PROCESSED' | 'FAILED') =>
      searchPastes(current.db, { ...anyPaste, userId, status, title: 'a' }, { limit: 5, after: null });
    expect((await find('IN_PROGRESS')).rows.length).toBe(1);
    expect((await find('PROCESSED')).rows.length).toBe(0);
    expect((await find('FAILED')).rows.length).toBe(0);
  });
});

test('a search reads a bounded number of files, and goes on from there', async () => {
  const userId = await newUser();
  const names = Array.from({ length: 60 }, (_, n) => `${n}.txt`);
  const files = names.map((name, n) => ({
    name,
    offset: Math.min(n, 1),
    size: n === 0 ? 1 : 0,
    syntax: null,
  }));
  for (const title of ['wanted', null, null]) await newPaste(userId, title, { files });
  expect(await pagesOf(userId, 'wanted', 5, 10)).toEqual([[], [], ['wanted']]);
  const search = { ...anyPaste, userId, title: 'wanted' };
  const first = await searchPastesByExpiry(current.db, search, { limit: 5, after: null }, 10);
  expect(first).toMatchObject({ rows: [], isCut: true });
});

describe('searchPastesByExpiry', () => {
  it('lists what expires first, and last what never does, each paste once, and filters', async () => {
    const userId = await newUser();
    const times = [300, null, 100, 200, null, 200, 400];
    for (const [n, expiresInSeconds] of times.entries())
      await newPaste(userId, `${n}`, { expiresInSeconds, visibility: n === 3 ? 'unlisted' : 'private' });
    await newPaste(await newUser(), 'of somebody else', { expiresInSeconds: 100 });
    const all = async (search: object, limit: number, maxScanned?: number) => {
      const titles: (string | null)[] = [];
      let after: PageRequest['after'] = null;
      let isCut: boolean;
      do {
        const page: Awaited<ReturnType<typeof searchPastesByExpiry>> = await searchPastesByExpiry(
          current.db,
          { ...anyPaste, userId, ...search },
          { limit, after },
          maxScanned,
        );
        titles.push(...page.rows.map(({ title }) => title));
        ({ next: after, isCut } = page);
      } while (after !== null);
      return { titles, isCut };
    };
    for (const limit of [1, 2, 10])
      expect(await all({}, limit)).toEqual({ titles: ['2', '3', '5', '0', '6', '1', '4'], isCut: false });
    expect((await all({ visibility: 'private' }, 2)).titles).toEqual(['2', '5', '0', '6', '1', '4']);
    expect((await all({ status: 'PROCESSED' }, 2)).titles).toEqual([]);
    expect(await all({}, 2, 3)).toEqual({ titles: ['5', '6', '4'], isCut: true }); // the newest three
  });
});

describe('pastes that were read once', () => {
  /** Seven pastes, oldest first: 1, 3 and 5 were read, 2 was deleted unread; the first one is never listed. */
  async function withRead(): Promise<string> {
    const { id: userId } = (await makeUsers(current.db, 1))[0]!;
    const shape = { userId, status: 'PROCESSED', burn: true, expiresInSeconds: 1000 } as const;
    for (let n = 0; n < 7; n += 1) {
      const [paste] = await makePastes(current.db, 1, { ...shape, createdSecondsAgo: 100 - n });
      await current.db
        .updateTable('pastes')
        .set({ title: `${n} ${n % 2}` })
        .where('id', '=', paste!.id)
        .execute();
      if (n % 2 === 1)
        await revealPaste(current.db, paste!.id, {
          readerKeyHash: randomBytes(32),
          readerId: userId,
          actor: 'api/test',
        });
      if (n === 2) await requestDeletions(current.db, { userId, shortCodes: [paste!.shortCode] });
    }
    return userId;
  }

  async function listed(
    of: (
      page: PageRequest,
    ) => Promise<{ rows: readonly { title: string | null }[]; next: PageRequest['after'] }>,
    limit: number,
  ) {
    const titles: (string | null)[] = [];
    let after: PageRequest['after'] = null;
    do {
      const page: Awaited<ReturnType<typeof of>> = await of({ limit, after });
      titles.push(...page.rows.map(({ title }) => title));
      after = page.next;
    } while (after !== null);
    return titles;
  }

  it.each([1, 2, 3, 10])('are listed among the others, each once, in pages of %i', async (limit) => {
    const userId = await withRead();
    const search = { ...anyPaste, userId };
    const all = ['6 0', '5 1', '4 0', '3 1', '1 1', '0 0'];
    for (const status of [null, 'PROCESSED'] as const)
      expect(await listed((page) => searchPastes(current.db, { ...search, status }, page), limit)).toEqual(
        all,
      );
    for (const status of ['IN_PROGRESS', 'FAILED'] as const)
      expect(await listed((page) => searchPastes(current.db, { ...search, status }, page), limit)).toEqual(
        [],
      );
    const odd = { ...search, title: ' 1' };
    expect(await listed((page) => searchPastes(current.db, odd, page), limit)).toEqual(['5 1', '3 1', '1 1']);
    expect(await listed((page) => searchPastes(current.db, odd, page, 2), limit)).toEqual([
      '5 1',
      '3 1',
      '1 1',
    ]);
  });

  it.each([1, 2, 3, 10])('come last by expiry, each once, in pages of %i', async (limit) => {
    const userId = await withRead();
    const titles = await listed(
      (page) => searchPastesByExpiry(current.db, { ...anyPaste, userId }, page),
      limit,
    );
    expect(titles).toEqual(['0 0', '4 0', '6 0', '1 1', '3 1', '5 1']);
  });
});

describe('requestDeletions', () => {
  it('deletes those of the user that are not gone, and no other', async () => {
    const userId = await newUser();
    const mine = [await newPaste(userId, 'a'), await newPaste(userId, 'b')];
    const theirs = await newPaste(await newUser(), 'c');
    const shortCodes = [...mine, theirs, 'missing'];
    expect((await findOwnPastes(current.db, { userId, shortCodes })).map(({ title }) => title)).toEqual([
      'b',
      'a',
    ]);
    expect(await requestDeletions(current.db, { userId, shortCodes })).toBe(2);
    expect(await requestDeletions(current.db, { userId, shortCodes })).toBe(0);
    expect(await findOwnPastes(current.db, { userId, shortCodes: [] })).toEqual([]);
    const { rows } = await searchPastes(current.db, { ...anyPaste, userId }, { limit: 5, after: null });
    expect(rows).toEqual([]);
  });

  it('deletes each paste once when two requests delete the same ones at once', async () => {
    const userId = await newUser();
    const codes = await Promise.all(Array.from({ length: 20 }, () => newPaste(userId, 'a')));
    const counts = await Promise.all(
      [codes, codes.toReversed(), codes].map((shortCodes) =>
        requestDeletions(current.db, { userId, shortCodes }),
      ),
    );
    expect(counts.reduce((sum, count) => sum + count)).toBe(20);
  });
});
