import { describe, expect, it } from '@jest/globals';
import { objectKeyOf } from '@pasteflow/domain';
import { sql } from 'kysely';
import {
  changePaste,
  claimOldFailed,
  createPaste,
  ensureUser,
  eraseUser,
  requestDeletions,
  requestDeletion,
  findLiveObjects,
  findPaste,
  findPasteBySlug,
  readPasteChanges,
  readPayload,
  readTimeline,
  removeFailed,
  retryFailed,
  takeDown,
  type NewPaste,
} from '../../src/index.ts';
import { pasteToCreate, useDatabase } from '../support/database.ts';
import { failUpload, makeFailed } from '../support/failed-paste.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useDatabase({ fresh: 'database' });
const by = { actor: 'ops/test', reason: 'S3 is back' };
const takedown = { actor: 'ops/test', class: 'spam', reason: 'reported' } as const;

const failedPaste = (options?: Partial<NewPaste>) => makeFailed(current.db, options);
const giveUp = (shortCode: string) => failUpload(current.db, shortCode);

/**
 * Stops statements that delete pastes after they have taken their snapshots.
 * @returns a function that lets them go on
 */
async function pauseDeletions(): Promise<() => Promise<void>> {
  await sql`CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$`.execute(current.db);
  await sql`CREATE TRIGGER pause BEFORE DELETE ON pastes FOR EACH STATEMENT EXECUTE FUNCTION pause()`.execute(
    current.db,
  );
  const pausing = await current.db.startTransaction().execute();
  await sql`SELECT pg_advisory_xact_lock(1)`.execute(pausing);
  return () => pausing.commit().execute();
}

describe('retrying a FAILED paste', () => {
  it('skips that of an erased user, also when it waits for the erasure', async () => {
    const userId = await ensureUser(current.db, 'ben');
    const { id, shortCode } = await failedPaste({ userId });
    let retrying: Promise<unknown> | undefined;
    await current.db.transaction().execute(async (tx) => {
      await eraseUser(tx, userId);
      retrying = retryFailed(current.db, [shortCode], by);
      await untilSomebodyWaits(current.db);
    });
    expect(await retrying).toEqual([]);
    expect(await findPaste(current.db, shortCode)).toMatchObject({ id, status: 'FAILED' });
  });

  it('keeps an encrypted paste encrypted', async () => {
    const paste = pasteToCreate({ encrypted: true });
    await createPaste(current.db, paste);
    await giveUp(paste.shortCode);
    await retryFailed(current.db, [paste.shortCode], by);
    expect(await findPaste(current.db, paste.shortCode)).toMatchObject({
      status: 'IN_PROGRESS',
      encrypted: true,
    });
  });

  it('keeps the record of what its owner has changed', async () => {
    const userId = await ensureUser(current.db, 'changing');
    const paste = pasteToCreate({ userId });
    const { id } = (await createPaste(current.db, paste))!;
    const owner = { userId, deleteTokenHash: null, actor: 'api/test' };
    await changePaste(current.db, id, { title: 'Another', visibility: 'private' }, owner);
    const before = await readPasteChanges(current.db, id);
    await giveUp(paste.shortCode);
    const [retried] = await retryFailed(current.db, [paste.shortCode], by);
    expect(before).toHaveLength(2);
    expect(await readPasteChanges(current.db, retried!.id)).toEqual(before);
    expect(await findPaste(current.db, paste.shortCode)).toMatchObject({
      title: 'Another',
      visibility: 'private',
    });
  });

  it('keeps its slug, which nobody else can take meanwhile', async () => {
    const userId = await ensureUser(current.db, 'named');
    const { shortCode } = await failedPaste({ userId, slug: 'release-notes' });
    const takeSlug = () => createPaste(current.db, pasteToCreate({ userId, slug: 'release-notes' }));
    expect(await takeSlug()).toBeNull();
    const [[retried]] = await Promise.all([
      retryFailed(current.db, [shortCode], by),
      ...Array.from({ length: 10 }, async () => expect(await takeSlug()).toBeNull()),
    ]);
    expect(await findPasteBySlug(current.db, 'release-notes')).toMatchObject({
      id: retried!.id,
      short_code: shortCode,
      slug: 'release-notes',
      status: 'IN_PROGRESS',
    });
    expect(await takeSlug()).toBeNull();
  });

  it('replaces it by a new one under the same code, with its payload, and keeps its timeline', async () => {
    const { id, shortCode } = await failedPaste();
    const before = (await findPaste(current.db, shortCode))!;
    expect(await readPayload(current.db, id)).toBeNull();
    const [retried] = await retryFailed(current.db, [shortCode], by);
    expect(retried).toMatchObject({ shortCode, retriedFrom: id });
    const { user_id, content_hash, size_bytes, title, syntax, expires_at, visibility, delete_token_hash } =
      before;
    const kept = {
      user_id,
      content_hash,
      size_bytes,
      title,
      syntax,
      expires_at,
      visibility,
      delete_token_hash,
    };
    expect(await findPaste(current.db, shortCode)).toMatchObject({
      ...kept,
      id: retried!.id,
      status: 'IN_PROGRESS',
    });
    expect(await readPayload(current.db, retried!.id)).toBeInstanceOf(Buffer);
    await giveUp(shortCode);
    const [second] = await retryFailed(current.db, [shortCode], by);
    const { transitions } = await readTimeline(current.db, second!.id);
    expect(transitions.map(({ to }) => to)).toEqual([
      'RUNNING',
      'FAILED',
      'FAILED',
      'RUNNING',
      'FAILED',
      'FAILED',
    ]);
    const retries = await current.db
      .selectFrom('paste_retries')
      .selectAll()
      .where('paste_id', '=', second!.id)
      .orderBy('retried_from')
      .execute();
    expect(retries).toMatchObject([
      { retried_from: id, actor: 'postgres (ops/test)', reason: by.reason },
      { retried_from: retried!.id, actor: 'postgres (ops/test)', reason: by.reason },
    ]);
  });

  it('keeps it a paste that is deleted when it is read', async () => {
    const { shortCode } = await failedPaste({ burn: true });
    expect(await retryFailed(current.db, [shortCode], by)).toHaveLength(1);
    expect(await findPaste(current.db, shortCode)).toMatchObject({ burn: true, status: 'IN_PROGRESS' });
  });

  it('keeps the parent of a paste, and makes a paste the parent of new pastes again', async () => {
    const parent = await failedPaste();
    expect(await createPaste(current.db, pasteToCreate({ parent: parent.shortCode }))).toBeNull();
    expect(await retryFailed(current.db, [parent.shortCode], by)).toHaveLength(1);
    const { shortCode } = await failedPaste({ parent: parent.shortCode });
    expect(await retryFailed(current.db, [shortCode], by)).toHaveLength(1);
    expect(await findPaste(current.db, shortCode)).toMatchObject({
      status: 'IN_PROGRESS',
      parent: parent.shortCode,
    });
  });

  it('takes effect once when two retry at once', async () => {
    const { shortCode } = await failedPaste();
    const both = await Promise.all([1, 2, 3].map(() => retryFailed(current.db, [shortCode], by)));
    expect(both.flat()).toHaveLength(1);
    expect(await retryFailed(current.db, [shortCode], by)).toEqual([]);
  });

  it('is ruled out once the sweep of failed pastes has claimed the paste, and rules out the removal otherwise', async () => {
    const swept = await failedPaste();
    const kept = await failedPaste();
    const old = { retentionSeconds: -1, after: null, limit: 1000 };
    const [found] = (await claimOldFailed(current.db, old)).filter(({ id }) => id === swept.id);
    expect(await retryFailed(current.db, [swept.shortCode], by)).toEqual([]);
    expect(await removeFailed(current.db, [found!.id])).toBe(1);
    expect(await findPaste(current.db, swept.shortCode)).toBeNull();
    expect(await retryFailed(current.db, [kept.shortCode], by)).toEqual([]); // claimed as well
    const retried = await failedPaste();
    await retryFailed(current.db, [retried.shortCode], by);
    expect(await removeFailed(current.db, [retried.id])).toBe(0);
    expect(await findPaste(current.db, retried.shortCode)).toMatchObject({ status: 'IN_PROGRESS' });
  });

  it('is ruled out while the sweep of failed pastes claims the paste in another session', async () => {
    const { id, shortCode } = await failedPaste();
    const sweep = await current.db.startTransaction().execute();
    try {
      await claimOldFailed(sweep, { retentionSeconds: -1, after: null, limit: 1000 });
      expect(await retryFailed(current.db, [shortCode], by)).toEqual([]);
    } finally {
      await sweep.commit().execute();
    }
    expect(await findPaste(current.db, shortCode)).toMatchObject({ id, status: 'FAILED' });
  });

  it('leaves its object to the paste that may replace it, until the sweep of failed pastes has claimed it', async () => {
    const { shortCode } = await failedPaste();
    const key = objectKeyOf(shortCode);
    expect(await findLiveObjects(current.db, [key])).toEqual(new Set([key]));
    await claimOldFailed(current.db, { retentionSeconds: -1, after: null, limit: 1000 });
    expect(await findLiveObjects(current.db, [key])).toEqual(new Set());
  });

  it('skips a deleted paste; a deletion that found the FAILED paste deletes the one that replaced it', async () => {
    const deleted = await failedPaste();
    expect(await requestDeletion(current.db, deleted.id)).toBe(true);
    expect(await retryFailed(current.db, [deleted.shortCode], by)).toEqual([]);
    const late = await failedPaste();
    await retryFailed(current.db, [late.shortCode], by);
    expect(await requestDeletion(current.db, late.id)).toBe(true);
    expect(await findPaste(current.db, late.shortCode)).toMatchObject({ gone: true });
  });

  it('that commits while a deletion waits for it leaves its new paste to that deletion', async () => {
    const { id, shortCode } = await failedPaste();
    const retry = await current.db.startTransaction().execute();
    await retryFailed(retry, [shortCode], by);
    const deletion = requestDeletion(current.db, id);
    await untilSomebodyWaits(current.db);
    await retry.commit().execute();
    expect(await deletion).toBe(true);
    expect(await findPaste(current.db, shortCode)).toMatchObject({ status: 'IN_PROGRESS', gone: true });
  });

  it('that commits while a deletion of several pastes waits for it leaves its new paste to that deletion', async () => {
    const userId = await ensureUser(current.db, 'deletes several');
    const retried = await failedPaste({ userId });
    const other = pasteToCreate({ userId });
    await createPaste(current.db, other);
    const shortCodes = [retried.shortCode, other.shortCode];
    const retry = await current.db.startTransaction().execute();
    await retryFailed(retry, [retried.shortCode], by);
    const deletion = requestDeletions(current.db, { userId, shortCodes });
    await untilSomebodyWaits(current.db);
    await retry.commit().execute();
    expect(await deletion).toBe(2);
    expect(await findPaste(current.db, retried.shortCode)).toMatchObject({
      status: 'IN_PROGRESS',
      gone: true,
    });
  });

  it.each<[string, (paste: { id: string; shortCode: string }) => Promise<unknown>]>([
    [
      'the sweep of failed pastes has claimed',
      () => claimOldFailed(current.db, { retentionSeconds: -1, after: null, limit: 10 }),
    ],
    ['was taken down', ({ shortCode }) => takeDown(current.db, [shortCode], takedown)],
    ['was deleted', ({ id }) => requestDeletion(current.db, id)],
  ])('skips a paste that %s after the retry had read it', async (_what, change) => {
    const { id, shortCode } = await failedPaste();
    const goOn = await pauseDeletions();
    const retry = retryFailed(current.db, [shortCode], by);
    await untilSomebodyWaits(current.db);
    await change({ id, shortCode });
    await goOn();
    expect(await retry).toEqual([]);
    expect(await findPaste(current.db, shortCode)).toMatchObject({ id, status: 'FAILED' });
  });
});
