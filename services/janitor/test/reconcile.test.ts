import { retryFailed } from '@pasteflow/postgres';
import { makePastes, type MadePaste, type PasteShape } from '@pasteflow/postgres/testing';
import { objectKeyOf } from '@pasteflow/domain';
import { createObjectStore, type ObjectStore } from '@pasteflow/s3';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createHash } from 'node:crypto';
import { withRefusingS3 } from './refusing-s3.ts';
import { newReconcile, nothingReconciled as nothing } from './new-reconcile.ts';
import { deleteCalls, keysIn, putObjects } from './objects.ts';
import { BUCKET, useWorld, running } from './world.ts';

const world = useWorld();

const sweep = (minAgeSeconds = 0) => newReconcile(world, { reconcileMinAgeSeconds: minAgeSeconds });
const pastes = (shape: PasteShape, count = 1) => makePastes(world.db, count, shape);
const codes = (made: readonly MadePaste[]) => made.map(({ shortCode }) => shortCode);
const rows = () => world.db.selectFrom('pastes').selectAll().orderBy('short_code').execute();

describe('reconcile', () => {
  it('finds nothing when every row has its object and every object its row', async () => {
    const stored = await pastes({ status: 'PROCESSED' }, 30);
    await pastes({ status: 'FAILED' });
    await pastes({ status: 'PROCESSED', deletion: { status: 'DELETED', secondsAgo: 5 } });
    await pastes({ status: 'IN_PROGRESS' });
    await putObjects(world.store, codes(stored));
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, listed: 30 });
    expect(world.log.lines).toEqual([]);
    expect(deleteCalls(world)).toEqual([]);
  });

  it('removes the objects of failed, deleted and unknown pastes, and keeps those of every live paste', async () => {
    const dead = [
      ...(await pastes({ status: 'FAILED' })),
      ...(await pastes({ status: 'PROCESSED', deletion: { status: 'DELETED', secondsAgo: 5 } })),
    ];
    const live = [
      ...(await pastes({ status: 'IN_PROGRESS' })),
      ...(await pastes({ status: 'PROCESSED' })),
      ...(await pastes({ status: 'PROCESSED', expiresInSeconds: -5 })),
      ...(await pastes({ status: 'PROCESSED', deletion: { status: 'DELETION_IN_PROGRESS', secondsAgo: 5 } })),
    ];
    await putObjects(world.store, [...codes(dead), ...codes(live), 'neverWas00']);
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, listed: 7, orphans: 3, removed: 3 });
    expect(await keysIn(world.store)).toEqual(codes(live).map(objectKeyOf).sort());
  });

  it('keeps the object of a FAILED paste that is retried, and stored anew, between the check and the deletion', async () => {
    const [retryable, lost] = await pastes({ status: 'FAILED' }, 2);
    await sql`INSERT INTO failed_payloads VALUES (${retryable!.id}, 'content')`.execute(world.db);
    await putObjects(world.store, codes([retryable!, lost!]));
    const holding = world.proxy.hold({ method: 'POST', path: /\?delete/ });
    const run = newReconcile(world).runOnce(running());
    const deletion = await holding;
    const by = { actor: 'ops/test', reason: null };
    const retried = await retryFailed(world.db, codes([retryable!, lost!]), by);
    await putObjects(
      world.store,
      retried.map(({ shortCode }) => shortCode),
      Buffer.from('stored anew'),
    );
    await deletion.forward();
    expect(await run).toEqual({ ...nothing, listed: 2, orphans: 1, removed: 1 });
    expect(retried).toMatchObject([{ retriedFrom: retryable!.id }]);
    expect(await keysIn(world.store)).toEqual([objectKeyOf(retryable!.shortCode)]);
  });

  it('leaves an object that is younger than the minimum age', async () => {
    await putObjects(world.store, ['young']);
    expect(await sweep(3600).runOnce(running())).toEqual({ ...nothing, listed: 1 });
    expect(await keysIn(world.store)).toEqual(['pastes/young']);
  });

  it('counts and logs keys that belong to no paste, and leaves them alone', async () => {
    const stored = await pastes({ status: 'PROCESSED' }, 2);
    await putObjects(world.store, codes(stored));
    for (const key of ['pastes/not-a-code', 'pastes/folder/file', 'pastes/~', 'other/file'])
      await putKey(key);
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, listed: 5, foreign: 3 });
    expect(await keysIn(world.store)).toHaveLength(6);
    expect(world.log.lines).toMatchObject([
      { level: 'warn', fields: { keys: ['pastes/folder/file', 'pastes/not-a-code', 'pastes/~'] } },
    ]);
  });

  it('reports rows without an object at any position in the order, and changes nothing', async () => {
    const order = ['0first', 'Aupper', 'Zupper', 'alower', 'mmmmmm', 'zlast'];
    await pastes({ status: 'PROCESSED', shortCodes: order });
    await putObjects(world.store, ['Aupper', 'alower']);
    const before = await rows();
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, listed: 2, missing: 4 });
    expect(world.log.lines).toMatchObject([
      { level: 'error', fields: { count: 4, short_codes: ['0first', 'Zupper', 'mmmmmm', 'zlast'] } },
    ]);
    expect(await rows()).toEqual(before);
  });

  it('reports a bucket that lost every object, with the names of a hundred', async () => {
    await pastes({ status: 'PROCESSED' }, 2100);
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, missing: 2100 });
    expect(world.log.lines[0]?.fields.short_codes).toHaveLength(100);
  });

  it('does not report objects as missing that were put during the listing, are being deleted, or have expired', async () => {
    await pastes({ status: 'PROCESSED', createdSecondsAgo: -60 });
    await pastes({ status: 'PROCESSED', deletion: { status: 'DELETION_IN_PROGRESS', secondsAgo: 5 } });
    // The object was deleted, the janitor crashed, and the watchdog reset the row: the next cleanup settles
    // it.
    await pastes({ status: 'PROCESSED', expiresInSeconds: -7300 });
    expect(await sweep().runOnce(running())).toEqual(nothing);
  });

  it('merges more than a thousand objects and rows page by page, with gaps on both sides', async () => {
    const stored = codes(await pastes({ status: 'PROCESSED' }, 1010));
    const lost = new Set(stored.filter((_, index) => index % 200 === 7));
    const direct = createObjectStore({
      ...world.stack.aws,
      bucket: BUCKET,
      maxAttempts: 1,
      requestTimeoutMs: 7000,
    });
    await putObjects(direct, [...stored.filter((code) => !lost.has(code)), 'orphan0001', 'zzorphan02']);
    direct.close();
    const found = { listed: 1006, orphans: 2, removed: 2, missing: 6 };
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, ...found });
    expect(world.log.lines.find(({ level }) => level === 'error')?.fields.short_codes).toEqual([...lost]);
    expect((await keysIn(world.store)).length).toBe(1004);
  });

  it('fails when S3 lists keys in another order, and reports no object as missing', async () => {
    await pastes({ status: 'PROCESSED', shortCodes: ['a', 'B'] });
    const listed = ['a', 'B'].map((code) => ({ key: objectKeyOf(code), lastModified: new Date() }));
    const list = async function* () {
      yield await Promise.resolve(listed);
    };
    const store = Object.assign(Object.create(world.store) as ObjectStore, { list });
    const run = newReconcile(world, { store }).runOnce(running());
    await expect(run).rejects.toThrow('S3 does not list keys in byte order: B came after a');
    expect(world.log.lines).toEqual([]);
  });

  it('counts what S3 refuses to delete', async () => {
    await putObjects(world.store, ['orphan']);
    await withRefusingS3(world.store, ['orphan'], async (refusing) => {
      const store = Object.assign(refusing, { list: (prefix: string) => world.store.list(prefix) });
      const run = newReconcile(world, { store }).runOnce(running());
      expect(await run).toEqual({ ...nothing, listed: 1, orphans: 1, refused: 1 });
    });
  });

  it('ends between two pages when its signal is aborted', async () => {
    await putObjects(world.store, ['orphan']);
    expect(await sweep().runOnce(AbortSignal.abort())).toEqual(nothing);
    expect(await keysIn(world.store)).toEqual(['pastes/orphan']);
  });
});

async function putKey(key: string): Promise<void> {
  const content = Buffer.from('x');
  await world.store.put(key, content, { sha256: createHash('sha256').update(content).digest() });
}
