import { randomBytes } from 'node:crypto';
import { DependencyUnavailableError, objectKeyOf } from '@pasteflow/domain';
import {
  claimExpired,
  readTimeline,
  resetStuckDeletions,
  revealPaste,
  settleDeleted,
  takeOverBurned,
} from '@pasteflow/postgres';
import { makePastes, type MadePaste } from '@pasteflow/postgres/testing';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createCleanup } from '../src/sweeps/cleanup.ts';
import { withRefusingS3 } from './refusing-s3.ts';
import { deleteCalls, keysIn, putObjects } from './objects.ts';
import { useWorld, running, deletionStates } from './world.ts';

const world = useWorld();

const cleanup = (actor = 'janitor/test', store = world.store) =>
  createCleanup({ db: world.janitorDb, store, actor, logger: world.log });
const expired = (count: number) =>
  makePastes(world.db, count, { status: 'PROCESSED', createdSecondsAgo: 100, expiresInSeconds: -10 });
const codes = (pastes: readonly MadePaste[]) => pastes.map(({ shortCode }) => shortCode);

async function timelineOf(paste: MadePaste | undefined) {
  const { transitions } = await readTimeline(world.db, paste?.id ?? '');
  return transitions.map(({ from, to, actor, reason }) => [from, to, actor, reason]);
}

/** Every key of these pastes was in exactly one DeleteObjects call, and no call had more than 1000. */
function expectEachDeletedOnce(pastes: readonly MadePaste[]) {
  const calls = deleteCalls(world);
  expect(Math.max(...calls.map((keys) => keys.length))).toBeLessThanOrEqual(1000);
  expect(calls.flat().sort()).toEqual(codes(pastes).map(objectKeyOf).sort());
}

const reveal = (id: string) =>
  revealPaste(world.db, id, { readerKeyHash: randomBytes(32), actor: 'api/test' });

describe('cleanup', () => {
  it('deletes each of 5,000 expired pastes once, in three janitors at the same time and without a lock', async () => {
    const pastes = await expired(5000);
    await putObjects(world.store, codes(pastes.slice(0, 200)));
    const counts = await Promise.all(
      ['a', 'b', 'c'].map((name) => cleanup(`janitor/${name}`).runOnce(running())),
    );
    expectEachDeletedOnce(pastes);
    expect(counts.map(({ deleted }) => deleted).reduce((a = 0, b = 0) => a + b)).toBe(5000);
    expect(counts.every(({ lost, refused }) => lost === 0 && refused === 0)).toBe(true);
    expect(await deletionStates(world)).toEqual({ DELETED: 5000 });
    expect(await keysIn(world.store)).toEqual([]);
  });

  it('deletes what a reveal claimed more than six minutes ago, once, and leaves later ones to their readers', async () => {
    const pastes = await makePastes(world.db, 30, {
      status: 'PROCESSED',
      burn: true,
      expiresInSeconds: 3600,
    });
    await putObjects(world.store, codes(pastes));
    const [late, unread, ...old] = pastes;
    for (const { id } of [late!, ...old]) expect(await reveal(id)).toBe(true);
    const ids = old.map(({ id }) => id);
    await sql`UPDATE pastes SET deletion_initiated_at = now() - interval '361 seconds' WHERE id = ANY (${ids})`.execute(
      world.db,
    );
    await sql`UPDATE pastes SET deletion_initiated_at = now() - interval '310 seconds' WHERE id = ${late!.id}`.execute(
      world.db,
    );
    const counts = await Promise.all(
      ['a', 'b', 'c'].map((name) => cleanup(`janitor/${name}`).runOnce(running())),
    );
    expectEachDeletedOnce(old);
    expect(counts.map(({ deleted }) => deleted).reduce((a = 0, b = 0) => a + b)).toBe(28);
    expect((await keysIn(world.store)).sort()).toEqual(codes([late!, unread!]).map(objectKeyOf).sort());
    expect((await timelineOf(old[0])).map(([from, to]) => [from, to])).toEqual([
      ['NOT_EXPIRED', 'DELETION_IN_PROGRESS'],
      ['DELETION_IN_PROGRESS', 'DELETED'],
    ]);
  });

  it('takes a paste that was read over from a janitor that crashed, and after the watchdog', async () => {
    const [paste] = await makePastes(world.db, 1, { status: 'PROCESSED', burn: true });
    await reveal(paste!.id);
    const age = (seconds: number) =>
      sql`UPDATE pastes SET deletion_initiated_at = now() - make_interval(secs => ${seconds})`.execute(
        world.db,
      );
    const takeOver = () => takeOverBurned(world.db, { afterSeconds: 300, limit: 10 });
    await age(301);
    const crashed = await takeOver();
    expect(crashed).toHaveLength(1);
    expect(await takeOver()).toEqual([]);
    await age(7201);
    expect(
      await resetStuckDeletions(world.db, { actor: 'janitor/test', stuckAfterSeconds: 7200, limit: 10 }),
    ).toBe(1);
    expect(await settleDeleted(world.db, crashed, 'janitor/test')).toBe(0);
    expect(await cleanup().runOnce(running())).toMatchObject({ claimed: 1, deleted: 1 });
    expect(await deletionStates(world)).toEqual({ DELETED: 1 });
  });

  it('leaves pastes that have not expired, never expire, are still being uploaded, or are already claimed', async () => {
    const { db } = world;
    await makePastes(db, 1, { status: 'PROCESSED', expiresInSeconds: 60 });
    await makePastes(db, 1, { status: 'PROCESSED' });
    await makePastes(db, 1, { status: 'IN_PROGRESS', expiresInSeconds: -10 });
    await makePastes(db, 1, {
      status: 'PROCESSED',
      expiresInSeconds: -10,
      deletion: { status: 'DELETION_IN_PROGRESS', secondsAgo: 5 },
    });
    expect(await cleanup().runOnce(running())).toEqual({ claimed: 0, deleted: 0, refused: 0, lost: 0 });
    expect(deleteCalls(world)).toEqual([]);
  });

  it('records who deleted a paste and why, and removes its title', async () => {
    const [paste] = await expired(1);
    await world.db.updateTable('pastes').set({ title: 'a secret' }).execute();
    await cleanup().runOnce(running());
    expect(await timelineOf(paste)).toEqual([
      ['NOT_EXPIRED', 'DELETION_IN_PROGRESS', 'janitor/test', 'expired'],
      ['DELETION_IN_PROGRESS', 'DELETED', 'janitor/test', 'object deleted'],
    ]);
    expect(await world.db.selectFrom('pastes').select('title').execute()).toEqual([{ title: null }]);
  });

  it('releases a paste whose object S3 refuses to delete, with the reason, and deletes the others', async () => {
    const pastes = await expired(3);
    await putObjects(world.store, codes(pastes));
    const refused = pastes[1] as MadePaste;
    await withRefusingS3(world.store, [refused.shortCode], async (store) => {
      expect(await cleanup('janitor/test', store).runOnce(running())).toEqual({
        claimed: 3,
        deleted: 2,
        refused: 1,
        lost: 0,
      });
    });
    expect(await keysIn(world.store)).toEqual([objectKeyOf(refused.shortCode)]);
    expect(await deletionStates(world)).toEqual({ DELETED: 2, NOT_EXPIRED: 1 });
    expect((await timelineOf(refused)).at(-1)).toEqual([
      'DELETION_IN_PROGRESS',
      'NOT_EXPIRED',
      'janitor/test',
      'S3 refused the deletion: AccessDenied Access Denied',
    ]);
  });

  it('deletes the pastes after a thousand whose objects S3 always refuses to delete, and ends', async () => {
    const first = await makePastes(world.db, 1000, { status: 'PROCESSED', expiresInSeconds: -50 });
    await expired(10);
    await withRefusingS3(world.store, codes(first), async (store) => {
      expect(await cleanup('janitor/test', store).runOnce(running())).toEqual({
        claimed: 1010,
        deleted: 10,
        refused: 1000,
        lost: 0,
      });
    });
    expect(await deletionStates(world)).toEqual({ DELETED: 10, NOT_EXPIRED: 1000 });
  });

  it('releases the batch and fails when the whole call fails, and the next run deletes it', async () => {
    await expired(2);
    world.proxy.rule({ method: 'POST', path: /\?delete/ }, { kind: 'fail', status: 503 }, 1);
    await expect(cleanup().runOnce(running())).rejects.toThrow(DependencyUnavailableError);
    expect(await deletionStates(world)).toEqual({ NOT_EXPIRED: 2 });
    expect(await cleanup().runOnce(running())).toMatchObject({ deleted: 2 });
  });

  it('claims nothing while S3 is down', async () => {
    const [paste] = await expired(1);
    world.proxy.rule({}, { kind: 'fail', status: 503 });
    await expect(cleanup().runOnce(running())).rejects.toThrow(DependencyUnavailableError);
    expect(await timelineOf(paste)).toEqual([]);
  });

  it('counts claims that the watchdog released during the call as lost, and leaves these pastes to the next run', async () => {
    const [paste] = await expired(1);
    const held = world.proxy.hold({ method: 'POST', path: /\?delete/ });
    const run = cleanup().runOnce(running());
    const request = await held;
    expect(
      await resetStuckDeletions(world.db, { actor: 'janitor/other', stuckAfterSeconds: 0, limit: 10 }),
    ).toBe(1);
    // Another janitor claimed the paste again: the settlement of the first claim must not settle this one.
    expect(await claimExpired(world.db, { actor: 'janitor/other', limit: 10 })).toHaveLength(1);
    await request.forward();
    expect(await run).toEqual({ claimed: 1, deleted: 0, refused: 0, lost: 1 });
    expect(await deletionStates(world)).toEqual({ DELETION_IN_PROGRESS: 1 });
    expect((await timelineOf(paste)).map(([, , actor]) => actor)).toEqual([
      'janitor/test',
      'janitor/other',
      'janitor/other',
    ]);
  });

  it('ends after the current batch when its signal is aborted', async () => {
    await expired(2500);
    const stopping = new AbortController();
    const held = world.proxy.hold({ method: 'POST', path: /\?delete/ });
    const run = cleanup().runOnce(stopping.signal);
    const request = await held;
    stopping.abort();
    await request.forward();
    expect(await run).toMatchObject({ claimed: 1000, deleted: 1000 });
    expect(await deletionStates(world)).toEqual({ DELETED: 1000, NOT_EXPIRED: 1500 });
  });
});
