import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  createPaste,
  findMovableSlug,
  findPaste,
  findPasteBySlug,
  listSlugVersions,
  moveSlug,
  removeTombstones,
  requestDeletion,
  takeDown,
  type MoveOutcome,
} from '../../src/index.ts';
import { makePastes, makeUsers, type PasteShape } from '../../src/testing/index.ts';
import { pasteToCreate, useDatabase } from '../support/database.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useDatabase({ fresh: 'file' });

let userId: string;
beforeEach(async () => {
  userId = await newUser();
});

const newUser = async (): Promise<string> => (await makeUsers(current.db, 1))[0]!.id;
const newSlug = () => `slug-${randomBytes(6).toString('hex')}`;
const make = async (shape: Partial<PasteShape> = {}): Promise<{ id: string; code: string }> => {
  const [made] = await makePastes(current.db, 1, { status: 'PROCESSED', userId, ...shape });
  return { id: made!.id, code: made!.shortCode };
};
const move = (slug: string, from: string, to: string, by = userId): Promise<MoveOutcome> =>
  moveSlug(current.db, { slug, userId: by, from, to }, 'api/test');
const holderOf = async (slug: string) => (await findPasteBySlug(current.db, slug))?.short_code;

/** A paste with a slug, and one that was made from it. */
async function twoVersions(shape: Partial<PasteShape> = {}, of: Partial<PasteShape> = {}) {
  const slug = newSlug();
  const first = await make({ slug, ...of });
  return { slug, first, second: await make({ parent: first.code, ...shape }) };
}
const numbersOf = async (id: string, reader: string | null = userId) =>
  (await listSlugVersions(current.db, id, { userId: reader, limit: 100 })).map(
    ({ number, short_code }) => `${number} ${short_code}`,
  );

describe('a move of a slug', () => {
  it('gives the slug to the new paste, numbers both, and records who moved it', async () => {
    const { slug, first, second } = await twoVersions();
    expect(await move(slug, first.code, second.code)).toBe('moved');
    expect(await holderOf(slug)).toBe(second.code);
    expect(await findPaste(current.db, first.code)).toMatchObject({ slug: null, version: 1 });
    expect(await findPaste(current.db, second.code)).toMatchObject({ slug, version: 2 });
    const rows = await current.db
      .selectFrom('slug_versions')
      .select(['number', 'paste_id', 'slug', 'actor'])
      .where('slug', '=', slug)
      .orderBy('number')
      .execute();
    expect(rows).toEqual([
      { number: 1, paste_id: first.id, slug, actor: 'postgres (api/test)' },
      { number: 2, paste_id: second.id, slug, actor: 'postgres (api/test)' },
    ]);
  });

  it('can skip pastes that the slug never named, and goes on from the last version', async () => {
    const { slug, first, second: draft } = await twoVersions();
    const second = await make({ parent: draft.code });
    const third = await make({ parent: second.code });
    expect(await move(slug, first.code, second.code)).toBe('moved');
    expect(await move(slug, second.code, third.code)).toBe('moved');
    const all = [`3 ${third.code}`, `2 ${second.code}`, `1 ${first.code}`];
    for (const { id } of [first, second, third]) expect(await numbersOf(id)).toEqual(all);
    expect(await numbersOf(draft.id)).toEqual([]);
  });

  it('changes nothing when it is repeated', async () => {
    const { slug, first, second } = await twoVersions();
    for (let n = 0; n < 3; n += 1) expect(await move(slug, first.code, second.code)).toBe('moved');
    expect(await numbersOf(first.id)).toHaveLength(2);
  });

  it.each<readonly [MoveOutcome, string, Partial<PasteShape>]>([
    ['in_progress', 'whose upload is in progress', { status: 'IN_PROGRESS' }],
    ['failed', 'whose upload failed', { status: 'FAILED' }],
    ['target_ended', 'that has expired', { expiresInSeconds: -1 }],
    [
      'target_ended',
      'that is deleted',
      { expiresInSeconds: -1, deletion: { status: 'DELETED', secondsAgo: 1 } },
    ],
    ['burn', 'that is deleted when it is read', { burn: true }],
    ['unrelated', 'that was made from another one', { parent: 'another' }],
  ])('is %s for a paste %s', async (outcome, _name, shape) => {
    const { slug, first, second } = await twoVersions(shape);
    expect(await move(slug, first.code, second.code)).toBe(outcome);
    expect(await holderOf(slug)).toBe(first.code);
  });

  it.each([
    ['encrypted', sql`encrypted = true`],
    ['held', sql`held_at = now()`],
  ])('is %s when either paste is', async (outcome, change) => {
    for (const which of ['first', 'second'] as const) {
      const { slug, ...pastes } = await twoVersions();
      await sql`UPDATE pastes SET ${change} WHERE id = ${pastes[which].id}`.execute(current.db);
      const isOffered = (await findMovableSlug(current.db, pastes.first.code, userId)) !== null;
      expect(isOffered).toBe(which === 'second'); // of which the page that offers a move knows itself
      expect(await move(slug, pastes.first.code, pastes.second.code)).toBe(outcome);
      expect(await holderOf(slug)).toBe(pastes.first.code);
    }
  });

  it('is ended when the present paste has ended, whose address then stays gone', async () => {
    const expired = await twoVersions({}, { expiresInSeconds: -1 });
    const down = await twoVersions();
    await takeDown(current.db, [down.first.code], { actor: 'ops/test', class: 'spam', reason: 'reported' });
    for (const { slug, first, second } of [expired, down]) {
      expect(await findMovableSlug(current.db, first.code, userId)).toBe(null);
      expect(await move(slug, first.code, second.code)).toBe('ended');
      expect(await holderOf(slug)).toBe(first.code);
    }
  });

  it('is refused for pastes and slugs of other users', async () => {
    const other = await newUser();
    const { slug, first, second } = await twoVersions();
    const foreign = await make({ userId: other, parent: first.code });
    expect(await move(slug, first.code, foreign.code)).toBe('unknown');
    expect(await move(slug, first.code, foreign.code, other)).toBe('moved_before');
    expect(await move(slug, first.code, second.code, other)).toBe('moved_before');
    expect(await move(slug, first.code, 'nothing')).toBe('unknown');
    expect(await move(newSlug(), first.code, second.code)).toBe('moved_before');
    expect(await holderOf(slug)).toBe(first.code);
  });

  it('is named for a paste that has a slug, or was a version of another one', async () => {
    const { slug, first, second } = await twoVersions({ slug: newSlug() });
    expect(await move(slug, first.code, second.code)).toBe('named');
    const third = await make({ parent: second.code });
    expect(await move((await findPaste(current.db, second.code))!.slug!, second.code, third.code)).toBe(
      'moved',
    );
    expect(await move(slug, first.code, second.code)).toBe('named');
  });

  it('never goes back to an earlier version', async () => {
    const { slug, first, second } = await twoVersions();
    await move(slug, first.code, second.code);
    expect(await move(slug, second.code, first.code)).toBe('named');
  });

  it('can be made by no service with plain SQL', async () => {
    const { slug, second } = await twoVersions();
    const plain = current.db.transaction().execute(async (tx) => {
      await sql`SET LOCAL ROLE pasteflow_api`.execute(tx);
      await sql`UPDATE pastes SET slug = ${slug} WHERE id = ${second.id}`.execute(tx);
    });
    await expect(plain).rejects.toMatchObject({ code: '42501' });
  });
});

describe('the versions of a slug', () => {
  it('are shown as far as the reader may read them', async () => {
    const { slug, first, second } = await twoVersions({ visibility: 'private' });
    const third = await make({ parent: second.code });
    const held = await make({ parent: third.code });
    const fifth = await make({ parent: held.code });
    const line = [first, second, third, held, fifth];
    for (const [n, paste] of line.slice(1).entries()) await move(slug, line[n]!.code, paste.code);
    await sql`UPDATE pastes SET held_at = now() WHERE id = ${held.id}`.execute(current.db);
    await takeDown(current.db, [first.code], { actor: 'ops/test', class: 'spam', reason: 'reported' });
    const [newest, ofHeld, ofThird, ofSecond] = line.map(({ code }, n) => `${n + 1} ${code}`).toReversed();
    expect(await numbersOf(fifth.id)).toEqual([newest, ofHeld, ofThird, ofSecond]);
    for (const reader of [null, await newUser()])
      expect(await numbersOf(fifth.id, reader)).toEqual([newest, ofThird]);
  });

  it('are not those of somebody who takes the slug when it is free again', async () => {
    const { slug, first, second } = await twoVersions();
    await move(slug, first.code, second.code);
    await sql`UPDATE pastes SET deletion_status = 'DELETION_IN_PROGRESS', deletion_initiated_at = now() - interval '2 hours'
      WHERE id = ${second.id}`.execute(current.db);
    await sql`UPDATE pastes SET deletion_status = 'DELETED', deleted_at = now() - interval '1 hour'
      WHERE id = ${second.id}`.execute(current.db);
    await removeTombstones(current.db, { retentionSeconds: 60, limit: 1000 });
    const other = await newUser();
    const taken = await make({ slug, userId: other });
    const next = await make({ parent: taken.code, userId: other });
    expect(await move(slug, taken.code, next.code, other)).toBe('moved');
    expect(await numbersOf(next.id)).toEqual([`2 ${next.code}`, `1 ${taken.code}`]);
    expect(await numbersOf(first.id)).toEqual([`1 ${first.code}`]);
  });
});

describe('at the same time', () => {
  it('one of fifty moves wins, and the others find out', async () => {
    const { slug, first } = await twoVersions();
    const targets = await Promise.all(Array.from({ length: 50 }, () => make({ parent: first.code })));
    const outcomes = await Promise.all(targets.map(({ code }) => move(slug, first.code, code)));
    expect(outcomes.filter((outcome) => outcome === 'moved')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'moved_before')).toHaveLength(49);
    expect(await holderOf(slug)).toBe(targets[outcomes.indexOf('moved')]!.code);
    expect(await numbersOf(first.id)).toHaveLength(2);
  });

  /** Runs `first` in a transaction that commits once the move waits for it. */
  async function moveBehind(
    { slug, first, second }: Awaited<ReturnType<typeof twoVersions>>,
    before: (tx: Parameters<typeof requestDeletion>[0]) => Promise<unknown>,
  ): Promise<MoveOutcome> {
    let moved: Promise<MoveOutcome> | undefined;
    await current.db.transaction().execute(async (tx) => {
      await before(tx);
      moved = move(slug, first.code, second.code);
      await untilSomebodyWaits(current.db);
    });
    return await moved!;
  }

  it('a deletion of either paste that comes first refuses the move', async () => {
    const ofTarget = await twoVersions();
    const ofSource = await twoVersions();
    expect(await moveBehind(ofTarget, (tx) => requestDeletion(tx, ofTarget.second.id))).toBe('target_ended');
    expect(await moveBehind(ofSource, (tx) => requestDeletion(tx, ofSource.first.id))).toBe('ended');
    expect(await holderOf(ofTarget.slug)).toBe(ofTarget.first.code);
    expect(await holderOf(ofSource.slug)).toBe(ofSource.first.code);
  });

  it('a paste that expires while the move waits for its lock is refused', async () => {
    const { slug, first, second } = await twoVersions();
    let moved: Promise<MoveOutcome> | undefined;
    await current.db.transaction().execute(async (tx) => {
      await sql`SELECT FROM pastes WHERE id = ${second.id} FOR UPDATE`.execute(tx);
      moved = move(slug, first.code, second.code);
      await untilSomebodyWaits(current.db);
      await sql`UPDATE pastes SET expires_at = clock_timestamp() WHERE id = ${second.id}`.execute(tx);
    });
    expect(await moved).toBe('target_ended');
  });

  it('a deletion of the present paste that comes second takes nothing from the new one', async () => {
    const { slug, first, second } = await twoVersions();
    let deleted: Promise<boolean> | undefined;
    await current.db.transaction().execute(async (tx) => {
      await moveSlug(tx, { slug, userId, from: first.code, to: second.code }, 'api/test');
      deleted = requestDeletion(current.db, first.id);
      await untilSomebodyWaits(current.db);
    });
    expect(await deleted).toBe(true);
    expect(await findPasteBySlug(current.db, slug)).toMatchObject({ short_code: second.code, gone: false });
  });

  it('a creation that wants the slug waits for the move, and never gets it', async () => {
    const { slug, first, second } = await twoVersions();
    let created: Promise<unknown> | undefined;
    await current.db.transaction().execute(async (tx) => {
      await moveSlug(tx, { slug, userId, from: first.code, to: second.code }, 'api/test');
      created = createPaste(current.db, pasteToCreate({ userId, slug }));
      await untilSomebodyWaits(current.db);
    });
    expect(await created).toBeNull();
    expect(await holderOf(slug)).toBe(second.code);
  });

  it('moves and creations in a storm leave the slug with one paste, and no gap', async () => {
    const { slug, first } = await twoVersions();
    let last = first;
    const line = [first];
    for (let n = 0; n < 20; n += 1) line.push((last = await make({ parent: last.code })));
    let isOver = false;
    const creators = Array.from({ length: 4 }, async () => {
      let taken = 0;
      while (!isOver)
        if ((await createPaste(current.db, pasteToCreate({ userId, slug }))) !== null) taken += 1;
      return taken;
    });
    for (const [n, { code }] of line.slice(1).entries())
      expect(await move(slug, line[n]!.code, code)).toBe('moved');
    isOver = true;
    expect(await Promise.all(creators)).toEqual([0, 0, 0, 0]);
    expect(await holderOf(slug)).toBe(last.code);
  });
});
