import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  createPaste,
  createPastes,
  findPaste,
  findPasteBySlug,
  findRefusal,
  readPayload,
  removeTombstones,
  type NewPaste,
} from '../../src/index.ts';
import { makePastes, makeUsers } from '../../src/testing/index.ts';
import { pasteToCreate, useDatabase } from '../support/database.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useDatabase({ fresh: 'file' });

/**
 * Groups that wait for each other: a busy machine takes longer for it than the 200 ms after which a group
 * fails by default.
 */
const patient = { maxLockWaitMs: 25_000 };

const newSlug = () => `slug-${randomBytes(6).toString('hex')}`;

async function newUser(): Promise<string> {
  const [user] = await makeUsers(current.db, 1);
  return user!.id;
}

/** Pastes of one user with these slugs; null: without a slug. */
function named(userId: string, slugs: readonly (string | null)[]): NewPaste[] {
  return slugs.map((slug) => pasteToCreate({ userId, slug }));
}

const madeOf = (results: readonly unknown[]) => results.map((created) => created !== null);

describe('a slug', () => {
  it('is stored with its paste, which is found by it', async () => {
    const [userId, slug] = [await newUser(), newSlug()];
    const [paste] = named(userId, [slug]);
    const { id } = (await createPaste(current.db, paste!))!;
    expect(await findPasteBySlug(current.db, slug)).toMatchObject({
      id,
      slug,
      short_code: paste!.shortCode,
      gone: false,
    });
    expect(await findPasteBySlug(current.db, newSlug())).toBeNull();
  });

  it.each(['ab', '-abc', 'abc-', 'ABC', 'a_c', 'x'.repeat(65), ''])(
    'is refused by the database when it is %j',
    async (slug) => {
      const created = createPaste(current.db, pasteToCreate({ userId: await newUser(), slug }));
      await expect(created).rejects.toMatchObject({ code: '23514', constraint: 'pastes_slug_pattern' });
    },
  );

  it('is refused by the database for a paste without an owner', async () => {
    const created = createPaste(current.db, pasteToCreate({ slug: newSlug() }));
    await expect(created).rejects.toMatchObject({ code: '23514', constraint: 'pastes_slug_has_owner' });
  });

  it('goes to one of fifty concurrent creations; the others leave nothing behind', async () => {
    const [userId, slug] = [await newUser(), newSlug()];
    const pastes = named(userId, Array<string>(50).fill(slug));
    const created = await Promise.all(pastes.map((paste) => createPaste(current.db, paste)));
    expect(created.filter((paste) => paste !== null)).toHaveLength(1);
    const found = await Promise.all(pastes.map(({ shortCode }) => findPaste(current.db, shortCode)));
    expect(madeOf(found)).toEqual(madeOf(created));
  });

  it('that is taken, before or within a group, costs only its own creation', async () => {
    const [userId, taken, twice] = [await newUser(), newSlug(), newSlug()];
    await createPastes(current.db, named(userId, [taken]));
    const group = [...named(userId, [taken, null, twice, twice, newSlug()]), pasteToCreate()];
    const created = await createPastes(current.db, group);
    expect(madeOf([created[0], created[1], created[4], created[5]])).toEqual([false, true, true, true]);
    expect(madeOf([created[2], created[3]]).filter(Boolean)).toHaveLength(1);
    for (const [n, paste] of created.entries()) {
      if (paste === null) expect(await findPaste(current.db, group[n]!.shortCode)).toBeNull();
      else expect(await readPayload(current.db, paste.id)).toEqual(group[n]!.content);
    }
  });

  it('that another transaction has taken and gives back goes to the creation that waits for it', async () => {
    const [userId, slug] = [await newUser(), newSlug()];
    let waiting: Promise<unknown> | undefined;
    const rolledBack = current.db.transaction().execute(async (tx) => {
      await createPaste(tx, named(userId, [slug])[0]!);
      waiting = createPaste(current.db, named(userId, [slug])[0]!);
      await untilSomebodyWaits(current.db);
      throw new Error('given back');
    });
    await expect(rolledBack).rejects.toThrow('given back');
    expect(await waiting).not.toBeNull();
  });

  it('does not make concurrent groups that want the same slugs in different orders deadlock', async () => {
    const userId = await newUser();
    const prefix = newSlug();
    const slugs = ['a', 'm', 'z'].map((letter) => `${prefix}-${letter}`);
    // In the order of their codes, one group would take the first slug and the other one the last, before
    // both wait for the one between.
    const groupOf = (order: readonly string[]) =>
      order.map((slug, n) =>
        pasteToCreate({ userId, slug, shortCode: `${n}${randomBytes(5).toString('hex')}` }),
      );
    const groups = [groupOf(slugs), groupOf(slugs.toReversed())];
    let results: Promise<PromiseSettledResult<readonly unknown[]>[]> | undefined;
    const rolledBack = current.db.transaction().execute(async (tx) => {
      await createPaste(tx, pasteToCreate({ userId, slug: slugs[1]! }));
      results = Promise.allSettled(groups.map((group) => createPastes(current.db, group, patient)));
      await untilSomebodyWaits(current.db, 2);
      throw new Error('given back');
    });
    await expect(rolledBack).rejects.toThrow('given back');
    const created = (await results!).map((result) =>
      result.status === 'fulfilled' ? madeOf(result.value) : String(result.reason),
    );
    expect(created).toEqual(
      expect.arrayContaining([
        [true, true, true],
        [false, false, false],
      ]),
    );
  });

  it('of a deleted paste stays taken until its tombstone is removed', async () => {
    const [userId, slug] = [await newUser(), newSlug()];
    const deletion = { status: 'DELETED', secondsAgo: 100 } as const;
    await makePastes(current.db, 1, { status: 'PROCESSED', expiresInSeconds: -200, deletion, userId, slug });
    const take = async () => (await createPaste(current.db, named(userId, [slug])[0]!)) !== null;
    expect(await take()).toBe(false);
    expect(await findRefusal(current.db, named(userId, [slug])[0]!)).toBe('slug_taken');
    await removeTombstones(current.db, { retentionSeconds: 1000, limit: 1000 });
    expect(await take()).toBe(false);
    await removeTombstones(current.db, { retentionSeconds: 50, limit: 1000 });
    expect(await take()).toBe(true);
  });

  it('can be taken from a paste by the owner of the tables, and is free at once', async () => {
    const [userId, slug] = [await newUser(), newSlug()];
    await createPaste(current.db, named(userId, [slug])[0]!);
    await sql`UPDATE pastes SET slug = NULL WHERE slug = ${slug}`.execute(current.db);
    expect(await createPaste(current.db, named(userId, [slug])[0]!)).not.toBeNull();
  });
});

describe('the limit of slugs of a user', () => {
  const countOf = async (userId: string) => {
    const { rows } = await sql<{ count: number }>`
      SELECT count(*)::integer AS count FROM pastes WHERE user_id = ${userId} AND slug IS NOT NULL`.execute(
      current.db,
    );
    return rows[0]!.count;
  };
  const limit = { maxSlugs: 10 };

  it('is exact for fifty concurrent creations', async () => {
    const userId = await newUser();
    const pastes = named(userId, Array.from({ length: 50 }, newSlug));
    const created = await Promise.all(pastes.map((paste) => createPaste(current.db, paste, limit)));
    expect(created.filter((paste) => paste !== null)).toHaveLength(10);
    expect(await countOf(userId)).toBe(10);
  });

  it('is exact for concurrent groups, and touches neither other users nor pastes without a slug', async () => {
    const [userId, other] = [await newUser(), await newUser()];
    const groups = Array.from({ length: 8 }, () => [
      ...named(userId, [newSlug(), null, newSlug(), newSlug()]),
      ...named(other, [newSlug()]),
    ]);
    const created = await Promise.all(
      groups.map((group) => createPastes(current.db, group, { ...limit, ...patient })),
    );
    expect(await countOf(userId)).toBe(10);
    for (const [, plain, , , ofOther] of created) expect(madeOf([plain, ofOther])).toEqual([true, true]);
  });

  it('counts deleted pastes too, and has another reason than a slug that is taken', async () => {
    const userId = await newUser();
    const deletion = { status: 'DELETED', secondsAgo: 100 } as const;
    const slugs = Array.from({ length: 10 }, newSlug);
    for (const slug of slugs)
      await makePastes(current.db, 1, {
        status: 'PROCESSED',
        expiresInSeconds: -200,
        deletion,
        userId,
        slug,
      });
    const refusal = async (slug: string, { maxSlugs }: { maxSlugs: number | null } = limit) =>
      (await createPaste(current.db, named(userId, [slug])[0]!, { maxSlugs })) === null
        ? await findRefusal(current.db, named(userId, [slug])[0]!, { maxSlugs })
        : 'created';
    expect(await refusal(newSlug())).toBe('slug_limit_reached');
    expect(await refusal(slugs[0]!)).toBe('slug_taken');
    expect(await refusal(newSlug(), { maxSlugs: 11 })).toBe('created');
    expect(await refusal(newSlug(), { maxSlugs: null })).toBe('created');
    expect(await refusal(newSlug(), { maxSlugs: 0 })).toBe('slug_limit_reached');
  });

  it('gives no reason when a second try can succeed', async () => {
    const [paste] = named(await newUser(), [newSlug()]);
    expect(await findRefusal(current.db, paste!, limit)).toBeNull();
    expect(await findRefusal(current.db, paste!)).toBeNull();
  });
});
