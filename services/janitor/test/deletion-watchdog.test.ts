import { readTimeline } from '@pasteflow/postgres';
import { makePastes } from '@pasteflow/postgres/testing';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createCleanup, createDeletionWatchdog } from '../src/sweeps/cleanup.ts';
import { keysIn, putObjects } from './objects.ts';
import { useWorld, running } from './world.ts';

const world = useWorld();

const HOURS_2 = 7200;
const watchdog = () =>
  createDeletionWatchdog({
    db: world.janitorDb,
    actor: 'janitor/watchdog',
    deletionStuckAfterSeconds: HOURS_2,
  });
const claimed = (count: number, secondsAgo: number) =>
  makePastes(world.db, count, {
    status: 'PROCESSED',
    createdSecondsAgo: secondsAgo + 60,
    expiresInSeconds: -secondsAgo - 10,
    deletion: { status: 'DELETION_IN_PROGRESS', secondsAgo },
  });
const states = async () =>
  (await world.db.selectFrom('pastes').select('deletion_status').orderBy('deletion_status').execute()).map(
    ({ deletion_status }) => deletion_status,
  );

describe('deletion-watchdog', () => {
  it('resets pastes that have been claimed for more than 2 hours, and none that has been claimed for 1:59', async () => {
    const [fresh] = await claimed(1, HOURS_2 - 60);
    const [stuck] = await claimed(1, HOURS_2 + 1);
    expect(await watchdog().runOnce(running())).toEqual({ reset: 1 });
    const rows = await world.db
      .selectFrom('pastes')
      .select(['id', 'deletion_status', 'deletion_initiated_at'])
      .execute();
    expect(rows).toHaveLength(2);
    expect(rows).toContainEqual({
      id: stuck?.id,
      deletion_status: 'NOT_EXPIRED',
      deletion_initiated_at: null,
    });
    expect(rows).toContainEqual({
      id: fresh?.id,
      deletion_status: 'DELETION_IN_PROGRESS',
      deletion_initiated_at: expect.any(Date),
    });
    const { transitions } = await readTimeline(world.db, stuck?.id ?? '');
    expect(transitions).toMatchObject([
      {
        from: 'DELETION_IN_PROGRESS',
        to: 'NOT_EXPIRED',
        actor: 'janitor/watchdog',
        reason: 'claimed too long',
      },
    ]);
  });

  it('releases an old claim, so that the next cleanup deletes the object', async () => {
    const [paste] = await claimed(1, 5);
    await putObjects(world.store, [paste?.shortCode ?? '']);
    const cleanup = createCleanup({
      ...world,
      db: world.janitorDb,
      actor: 'janitor/cleanup',
      logger: world.log,
    });
    expect([await watchdog().runOnce(running()), await cleanup.runOnce(running())]).toMatchObject([
      { reset: 0 },
      { claimed: 0 },
    ]);
    await sql`UPDATE pastes SET deletion_initiated_at = now() - interval '2 hours 1 second'`.execute(
      world.db,
    );
    expect([await watchdog().runOnce(running()), await cleanup.runOnce(running())]).toMatchObject([
      { reset: 1 },
      { deleted: 1 },
    ]);
    expect(await keysIn(world.store)).toEqual([]);
    expect(await states()).toEqual(['DELETED']);
  });

  it('leaves DELETED rows of any age unchanged', async () => {
    await makePastes(world.db, 2, { status: 'PROCESSED', deletion: { status: 'DELETED', secondsAgo: 9000 } });
    expect(await watchdog().runOnce(running())).toEqual({ reset: 0 });
    expect(await states()).toEqual(['DELETED', 'DELETED']);
  });

  it('resets more than a batch in one run, each paste once, in two watchdogs at the same time', async () => {
    await claimed(2500, HOURS_2 + 60);
    const counts = await Promise.all([watchdog().runOnce(running()), watchdog().runOnce(running())]);
    expect(counts.map(({ reset }) => reset).reduce((a = 0, b = 0) => a + b)).toBe(2500);
    expect(new Set(await states())).toEqual(new Set(['NOT_EXPIRED']));
  });
});
