import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  claimExecutions,
  createPaste,
  findNewestVersions,
  findPaste,
  findPasteBySlug,
  findRefusal,
  listSlugVersions,
  moveSlug,
  requestDeletion,
  requestDeletions,
  retryFailed,
  settleExecutions,
  takeDown,
  uploadSubject,
  type Database,
  type NewPaste,
} from '../../src/index.ts';
import { makePastes, makeUsers, type PasteShape } from '../../src/testing/index.ts';
import { pasteToCreate, useDatabase } from '../support/database.ts';
import { failUpload } from '../support/failed-paste.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useDatabase({ fresh: 'file' });

let userId: string;
beforeEach(async () => {
  userId = (await makeUsers(current.db, 1))[0]!.id;
});

const newSlug = () => `slug-${randomBytes(6).toString('hex')}`;
const make = async (shape: Partial<PasteShape> = {}): Promise<string> =>
  (await makePastes(current.db, 1, { status: 'PROCESSED', userId, ...shape }))[0]!.shortCode;
const newer = (supersedes: string, options: Partial<NewPaste> = {}) =>
  pasteToCreate({ supersedes, parent: supersedes, userId, ...options });
const row = async (code: string) => (await findPaste(current.db, code))!;
const idOf = async (code: string) => (await row(code)).id;
const holderOf = async (slug: string) => (await findPasteBySlug(current.db, slug))?.short_code;
const deleteIt = async (code: string) => requestDeletion(current.db, await idOf(code));

async function create(supersedes: string, options: Partial<NewPaste> = {}): Promise<string> {
  const paste = newer(supersedes, options);
  if ((await createPaste(current.db, paste)) === null)
    throw new Error(`not created: ${await findRefusal(current.db, paste)}`);
  return paste.shortCode;
}

/** Claims uploads. @returns a function that stores all of them in one statement */
async function claimed(...codes: readonly string[]): Promise<(db?: Database) => Promise<unknown>> {
  const actor = 'worker/test';
  const claims = await claimExecutions(current.db, uploadSubject, { keys: codes, actor, leaseSeconds: 60 });
  const settlements = [...claims.values()].map((claim) => {
    if (claim.kind !== 'claimed') throw new Error('not claimed');
    const outcome = { kind: 'succeeded', s3Url: 's3://pasteflow/pastes/x' } as const;
    return { executionId: claim.execution.executionId, outcome, nextStep: { kind: 'done' } as const };
  });
  return (db = current.db) => settleExecutions(db, uploadSubject, settlements, { actor, dispatched: true });
}
const store = async (code: string) => (await claimed(code))();

/** A paste with a slug, and its newer version, whose upload is in progress. */
async function twoVersions(of: Partial<NewPaste> = {}) {
  const slug = newSlug();
  const older = await make({ slug });
  return { slug, older, second: await create(older, of) };
}

describe('the slug of a paste that is superseded', () => {
  it('moves when the newer version is stored, by which it is numbered, and not before', async () => {
    const { slug, older, second } = await twoVersions();
    expect(await holderOf(slug)).toBe(older);
    await store(second);
    expect(await holderOf(slug)).toBe(second);
    expect(await row(older)).toMatchObject({ slug: null, version: 1, superseded_by: second });
    expect(await row(second)).toMatchObject({ slug, version: 2, superseded_by: null });
    const third = await create(second);
    await store(third);
    const versions = await listSlugVersions(current.db, await idOf(older), { userId, limit: 10 });
    expect(versions.map(({ number, short_code: code }) => [number, code])).toEqual([
      [3, third],
      [2, second],
      [1, older],
    ]);
    const { rows } = await sql`SELECT DISTINCT actor FROM slug_versions WHERE slug = ${slug}`.execute(
      current.db,
    );
    expect(rows).toEqual([{ actor: 'postgres (worker/test)' }]);
  });

  it.each<readonly [string, (older: string, second: string) => Promise<unknown>]>([
    ['the older paste was deleted', (older) => deleteIt(older)],
    [
      'the older paste was taken down',
      (older) => takeDown(current.db, [older], { actor: 'ops/test', class: 'spam', reason: 'reported' }),
    ],
    ['the newer version was deleted', (_, second) => deleteIt(second)],
    [
      'the newer version has expired',
      (_, second) =>
        sql`UPDATE pastes SET expires_at = now() - interval '1 s' WHERE short_code = ${second}`.execute(
          current.db,
        ),
    ],
    [
      'the older paste is held',
      (older) => sql`UPDATE pastes SET held_at = now() WHERE short_code = ${older}`.execute(current.db),
    ],
    [
      'the newer version is held',
      (_, second) => sql`UPDATE pastes SET held_at = now() WHERE short_code = ${second}`.execute(current.db),
    ],
  ])('stays where it is when %s meanwhile', async (name, change) => {
    const { slug, older, second } = await twoVersions();
    await change(older, second);
    await store(second);
    expect(await holderOf(slug)).toBe(older);
    expect((await row(older)).superseded_by).toBe(name.includes('held') ? second : null);
  });

  it('stays when the newer version has another slug, and when it was moved to another paste', async () => {
    const { slug, older, second } = await twoVersions();
    const rival = await make({ parent: older });
    expect(await moveSlug(current.db, { slug, userId, from: older, to: rival }, 'api/test')).toBe('moved');
    await store(second);
    expect(await holderOf(slug)).toBe(rival);
    const own = newSlug();
    const named = await twoVersions({ slug: own });
    await store(named.second);
    expect([await holderOf(named.slug), await holderOf(own)]).toEqual([named.older, named.second]);
  });

  it('never goes to the paste of somebody else, whatever a service inserts', async () => {
    const slug = newSlug();
    const older = await make({ slug });
    const [stranger] = await makeUsers(current.db, 1);
    const foreign = await create(older, { userId: stranger!.id });
    await store(foreign);
    expect(await holderOf(slug)).toBe(older);
    expect(await row(older)).toMatchObject({ superseded_by: null });
  });
});

describe('a settlement of a newer version', () => {
  const removals = {
    deletion: (shortCodes: readonly string[]) => requestDeletions(current.db, { userId, shortCodes }),
    takedown: (shortCodes: readonly string[]) =>
      takeDown(current.db, shortCodes, { actor: 'ops/test', class: 'spam', reason: 'reported' }),
  };
  it.each(Object.keys(removals) as (keyof typeof removals)[])(
    'can not deadlock with a %s of both pastes, which locks the newer one first',
    async (removal) => {
      const { slug, older, second } = await twoVersions();
      const settle = await claimed(second);
      const tx = await current.db.startTransaction().execute();
      await sql`SELECT FROM pastes WHERE short_code = ${older} FOR UPDATE`.execute(tx);
      const removing = removals[removal]([older, second]);
      await untilSomebodyWaits(current.db); // for the older paste
      const settling = settle();
      await untilSomebodyWaits(current.db, 2);
      await tx.rollback().execute();
      await Promise.all([settling, removing]);
      expect(await row(older)).toMatchObject({ gone: true, superseded_by: null });
      expect(await row(second)).toMatchObject({ status: 'PROCESSED', gone: true });
      expect(await holderOf(slug)).toBe(older);
    },
  );

  it('of many pastes is one statement', async () => {
    const older = await Promise.all(Array.from({ length: 20 }, () => make()));
    const codes = await Promise.all(older.map((code) => create(code)));
    await (
      await claimed(...codes)
    )();
    const newest = await findNewestVersions(current.db, older, userId);
    expect(older.map((code) => newest.get(code))).toEqual(codes);
  });

  it('is a HOT update of both pastes, where their pages have room', async () => {
    const hotUpdates = async (db: Database): Promise<number> => {
      const { rows } = await sql<{ hot: number }>`
        SELECT n_tup_hot_upd::integer AS hot FROM pg_stat_xact_user_tables WHERE relname = 'pastes'`.execute(
        db,
      );
      return rows[0]?.hot ?? 0;
    };
    const inPlace: number[] = [];
    for (let n = 0; n < 10; n += 1) {
      const settle = await claimed(await create(await make()));
      await current.db.transaction().execute(async (tx) => {
        const before = await hotUpdates(tx);
        await settle(tx);
        inPlace.push((await hotUpdates(tx)) - before);
      });
    }
    expect(inPlace).toContain(2);
  });
});

describe('the place of the newer version', () => {
  it('is taken once, also by two statements at once', async () => {
    const older = await make();
    const first = newer(older);
    let second: Promise<unknown> | undefined;
    await current.db.transaction().execute(async (tx) => {
      await createPaste(tx, first);
      second = createPaste(current.db, newer(older));
      await untilSomebodyWaits(current.db);
    });
    expect(await second).toBeNull();
    expect(await findRefusal(current.db, newer(older))).toBe('superseded');
  });

  it('is lost to a retry of the failed version when another one has it', async () => {
    const older = await make();
    const loser = await create(older);
    await failUpload(current.db, loser);
    const winner = await create(older);
    const by = { actor: 'ops/test', reason: 'S3 is back' };
    expect(await retryFailed(current.db, [loser], by)).toHaveLength(1);
    expect(await row(loser)).toMatchObject({ status: 'IN_PROGRESS', supersedes: null, parent: older });
    await deleteIt(winner);
    const one = await create(older);
    await failUpload(current.db, one);
    const two = await create(older);
    await failUpload(current.db, two);
    expect(await retryFailed(current.db, [one, two], by)).toHaveLength(2);
    expect([(await row(one)).supersedes, (await row(two)).supersedes]).toEqual([older, null]);
  });

  it('is lost to a retry also while another one takes it', async () => {
    const older = await make();
    const loser = await create(older);
    await failUpload(current.db, loser);
    const winner = newer(older);
    let retrying: Promise<unknown> | undefined;
    await current.db.transaction().execute(async (tx) => {
      await createPaste(tx, winner);
      retrying = retryFailed(current.db, [loser], { actor: 'ops/test', reason: 'S3 is back' });
      await untilSomebodyWaits(current.db);
    });
    expect(await retrying).toHaveLength(1);
    expect([(await row(loser)).supersedes, (await row(winner.shortCode)).supersedes]).toEqual([null, older]);
  });
});
