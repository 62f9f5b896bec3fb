import { describe, expect, it } from '@jest/globals';
import { decideNextStep, defaultRetryPolicy } from '@pasteflow/domain';
import { sql } from 'kysely';
import {
  claimExecutions,
  claimExpired,
  countStanding,
  requestDeletion,
  findPaste,
  findStanding,
  retryFailed,
  settleDeleted,
  settleExecutions,
  takeDown,
  uploadSubject,
  type UploadOutcome,
} from '../../src/index.ts';
import { lockRow, makePastes, makeUsers } from '../../src/testing/index.ts';
import { newPaste, open, useDatabase } from '../support/database.ts';
import { untilSomebodyWaits } from '../support/locks.ts';
import { urlOfRole } from '../support/roles.ts';

const current = useDatabase();
const by = { actor: 'ops/test', class: 'malware', reason: 'reported by an antivirus' } as const;
const worker = 'upload-worker/a';

async function settle(shortCode: string, outcome: UploadOutcome): Promise<void> {
  const claims = await claimExecutions(current.db, uploadSubject, {
    keys: [shortCode],
    actor: worker,
    leaseSeconds: 6,
  });
  const claim = claims.get(shortCode);
  if (claim?.kind !== 'claimed') throw new Error('not claimed');
  const nextStep = decideNextStep(outcome, { attempt: 6, losses: 0 }, defaultRetryPolicy, 0.5);
  const { executionId } = claim.execution;
  await settleExecutions(current.db, uploadSubject, [{ executionId, outcome, nextStep }], {
    actor: worker,
    dispatched: true,
  });
}

const stored = { kind: 'succeeded', s3Url: 's3://pasteflow/pastes/x' } as const;
const refused = { kind: 'failed', error: 'S3 answered 503' } as const;

describe('a takedown', () => {
  it.each([
    ['IN_PROGRESS', null],
    ['PROCESSED', stored],
    ['FAILED', refused],
  ])('of a paste that is %s expires the paste, and records who and why', async (status, outcome) => {
    const { id, shortCode } = await newPaste(current.db);
    if (outcome !== null) await settle(shortCode, outcome);
    const { takenDown, before, unknown } = await takeDown(current.db, [shortCode], by);
    expect([takenDown, before, unknown]).toEqual([
      [expect.objectContaining({ shortCode, status, deletionStatus: 'NOT_EXPIRED' })],
      [],
      [],
    ]);
    expect(await findPaste(current.db, shortCode)).toMatchObject({
      status,
      gone: true,
      taken_down_for: 'malware',
    });
    expect(await current.db.selectFrom('takedowns').selectAll().execute()).toMatchObject([
      { paste_id: id, short_code: shortCode, ...by },
    ]);
  });

  it('of a paste that never expires leaves nothing to read', async () => {
    const [paste] = await makePastes(current.db, 1, { status: 'PROCESSED', expiresInSeconds: null });
    await takeDown(current.db, [paste!.shortCode], by);
    expect(await findPaste(current.db, paste!.shortCode)).toMatchObject({ gone: true });
  });

  it('of an upload under way lets the upload end, and the cleanup then deletes the object', async () => {
    const { shortCode } = await newPaste(current.db);
    await takeDown(current.db, [shortCode], by);
    expect(await claimExpired(current.db, { actor: 'janitor/a', limit: 10 })).toEqual([]);
    await settle(shortCode, stored);
    const claims = await claimExpired(current.db, { actor: 'janitor/a', limit: 10 });
    expect(claims).toMatchObject([{ shortCode }]);
    expect(await settleDeleted(current.db, claims, 'janitor/a')).toBe(1);
    expect(await findPaste(current.db, shortCode)).toMatchObject({
      deletion_status: 'DELETED',
      taken_down_for: 'malware',
    });
  });

  it('has effect once, and keeps the first reason', async () => {
    const { shortCode } = await newPaste(current.db);
    const results = await Promise.all([1, 2, 3].map(() => takeDown(current.db, [shortCode], by)));
    expect(results.flatMap(({ takenDown }) => takenDown)).toHaveLength(1);
    expect(results.flatMap(({ before }) => before)).toEqual([shortCode, shortCode]);
    const again = await takeDown(current.db, [shortCode, 'nothing'], { ...by, class: 'spam' });
    expect(again).toEqual({ takenDown: [], before: [shortCode], unknown: ['nothing'] });
    expect(await findPaste(current.db, shortCode)).toMatchObject({ taken_down_for: 'malware' });
  });

  it('that waits for another one of the paste leaves that one as it is', async () => {
    const { shortCode } = await newPaste(current.db);
    const first = await current.db.startTransaction().execute();
    await takeDown(first, [shortCode], by);
    const second = takeDown(current.db, [shortCode], { ...by, class: 'spam' });
    await untilSomebodyWaits(current.db);
    await first.commit().execute();
    expect(await second).toMatchObject({ takenDown: [], before: [shortCode] });
    expect(await findPaste(current.db, shortCode)).toMatchObject({ taken_down_for: 'malware' });
    expect(await current.db.selectFrom('takedowns').selectAll().execute()).toMatchObject([by]);
  });

  it('locks the newest paste first, so that neither two takedowns nor a settlement of a newer version wait for each other', async () => {
    const [first] = await makePastes(current.db, 1, { status: 'PROCESSED', shortCodes: ['a'] });
    const [second] = await makePastes(current.db, 1, { status: 'PROCESSED', shortCodes: ['z'] });
    const unlock = await lockRow(current.db, 'pastes', second!.id);
    const takedown = takeDown(current.db, ['a', 'z'], by);
    await untilSomebodyWaits(current.db);
    const { rows } = await sql`SELECT id FROM pastes FOR UPDATE SKIP LOCKED`.execute(current.db);
    await unlock();
    expect(rows).toEqual([{ id: first!.id }]);
    expect((await takedown).takenDown.map(({ shortCode }) => shortCode)).toEqual(['a', 'z']);
  });

  it('of a paste that its user deleted keeps the time of the deletion', async () => {
    const { id, shortCode } = await newPaste(current.db);
    await requestDeletion(current.db, id);
    const { deletion_requested_at } = (await findPaste(current.db, shortCode))!;
    await takeDown(current.db, [shortCode], by);
    expect(await findPaste(current.db, shortCode)).toMatchObject({
      deletion_requested_at,
      taken_down_for: 'malware',
    });
  });

  it('rules out a retry', async () => {
    const { shortCode } = await newPaste(current.db);
    await settle(shortCode, refused);
    await takeDown(current.db, [shortCode], by);
    expect(await retryFailed(current.db, [shortCode], { actor: 'ops/a', reason: null })).toEqual([]);
  });

  it('that waits for a retry takes down the paste that replaced the FAILED one', async () => {
    const { shortCode } = await newPaste(current.db);
    await settle(shortCode, refused);
    const retry = await current.db.startTransaction().execute();
    const retried = await retryFailed(retry, [shortCode], { actor: 'ops/a', reason: null });
    const takedown = takeDown(current.db, [shortCode], by);
    await untilSomebodyWaits(current.db);
    await retry.commit().execute();
    expect(await takedown).toMatchObject({ takenDown: [{ shortCode, status: 'IN_PROGRESS' }], unknown: [] });
    expect(await findPaste(current.db, shortCode)).toMatchObject({
      id: retried[0]!.id,
      taken_down_for: 'malware',
    });
  });

  it('needs no right that the role of the janitor lacks, and the api cannot undo it', async () => {
    const { id, shortCode } = await newPaste(current.db);
    const janitor = open(urlOfRole(current.url, 'pasteflow_janitor'));
    const api = open(urlOfRole(current.url, 'pasteflow_api'));
    try {
      expect((await takeDown(janitor, [shortCode], by)).takenDown).toHaveLength(1);
      await expect(
        sql`UPDATE pastes SET taken_down_for = NULL WHERE id = ${id}`.execute(api),
      ).rejects.toMatchObject({ code: '42501' });
      await expect(sql`DELETE FROM takedowns`.execute(janitor)).rejects.toMatchObject({ code: '42501' });
    } finally {
      await Promise.all([janitor.destroy(), api.destroy()]);
    }
  });
});

it('the pastes of a user that stand are those that no cleanup has claimed and nobody took down', async () => {
  const [user, other] = await makeUsers(current.db, 2);
  const owned = { userId: user!.id, expiresInSeconds: 3600 } as const;
  const pastes = await makePastes(current.db, 3, { ...owned, status: 'PROCESSED' });
  await makePastes(current.db, 1, { status: 'PROCESSED', userId: other!.id });
  expect(await countStanding(current.db, user!.id)).toBe(3);
  expect(await countStanding(current.db, user!.id, 2)).toBe(2);
  const [first] = await findStanding(current.db, user!.id, 1);
  await takeDown(current.db, [first!], by);
  expect(await countStanding(current.db, user!.id)).toBe(2);
  expect(new Set([first, ...(await findStanding(current.db, user!.id, 10))])).toEqual(
    new Set(pastes.map(({ shortCode }) => shortCode)),
  );
});
