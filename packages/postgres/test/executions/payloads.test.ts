import { describe, expect, it } from '@jest/globals';
import { defaultRetryPolicy, decideNextStep } from '@pasteflow/domain';
import { sql } from 'kysely';
import {
  claimExecutions,
  findPaste,
  readPayload,
  settleExecutions,
  uploadSubject,
  type ClaimedUpload,
  type Database,
  type UploadOutcome,
} from '../../src/index.ts';
import { newPaste, useDatabase } from '../support/database.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useDatabase({ fresh: 'file' });

async function claimOne(shortCode: string, actor = 'w1', leaseSeconds = 6): Promise<ClaimedUpload> {
  const claims = await claimExecutions(current.db, uploadSubject, { keys: [shortCode], actor, leaseSeconds });
  const claim = claims.get(shortCode);
  if (claim?.kind !== 'claimed') throw new Error(`not claimed: ${JSON.stringify(claim)}`);
  return claim.execution;
}

function settlement(upload: ClaimedUpload, outcome: UploadOutcome) {
  const { executionId } = upload;
  return { executionId, outcome, nextStep: decideNextStep(outcome, upload, defaultRetryPolicy, 0.5) };
}

/** A change that an operator may make by hand at any time. */
const moveOn = (id: string, status: string, db: Database = current.db) =>
  (status === 'FAILED'
    ? sql`UPDATE pastes SET status = 'FAILED', failure_reason = 'by hand', failed_at = now() WHERE id = ${id}`
    : sql`UPDATE pastes SET status = 'PROCESSED', s3_url = 's3://b/k', processed_at = now() WHERE id = ${id}`
  ).execute(db);

const byW1 = { actor: 'w1', dispatched: true };
const succeeded: UploadOutcome = { kind: 'succeeded', s3Url: 's3://bucket/key' };
const failed: UploadOutcome = { kind: 'failed', error: 'S3 answered 500' };

describe('settling an upload whose paste plain SQL has changed meanwhile', () => {
  const gaveUp = { outcome: failed, nextStep: { kind: 'give_up' as const, reason: 'no more' } };

  it.each([
    ['stored', 'FAILED', (upload: ClaimedUpload) => settlement(upload, succeeded)],
    ['given up', 'FAILED', ({ executionId }: ClaimedUpload) => ({ executionId, ...gaveUp })],
    ['stored', 'PROCESSED', (upload: ClaimedUpload) => settlement(upload, succeeded)],
    ['given up', 'PROCESSED', ({ executionId }: ClaimedUpload) => ({ executionId, ...gaveUp })],
  ])('deletes the payload when the upload is %s after the paste was made %s', async (_, status, ending) => {
    const { shortCode, id } = await newPaste(current.db);
    const upload = await claimOne(shortCode);
    await moveOn(id, status);
    expect((await settleExecutions(current.db, uploadSubject, [ending(upload)], byW1)).size).toBe(1);
    expect((await findPaste(current.db, shortCode))?.status).toBe(status);
    expect(await readPayload(current.db, id)).toBeNull();
  });

  it('keeps the payload for the next attempt, which deletes it', async () => {
    const { shortCode, id } = await newPaste(current.db);
    const upload = await claimOne(shortCode);
    await moveOn(id, 'FAILED');
    await settleExecutions(current.db, uploadSubject, [settlement(upload, { kind: 'interrupted' })], byW1);
    expect(await readPayload(current.db, id)).not.toBeNull();
    await settleExecutions(
      current.db,
      uploadSubject,
      [settlement(await claimOne(shortCode), succeeded)],
      byW1,
    );
    expect(await readPayload(current.db, id)).toBeNull();
  });

  it('deletes the payload when the paste changes between the snapshot and the lock', async () => {
    const { shortCode, id } = await newPaste(current.db);
    const upload = await claimOne(shortCode);
    const moving = await current.db.startTransaction().execute();
    await moveOn(id, 'FAILED', moving);
    const settling = settleExecutions(current.db, uploadSubject, [settlement(upload, succeeded)], byW1);
    await untilSomebodyWaits(current.db);
    await moving.commit().execute();
    expect((await settling).size).toBe(1);
    expect((await findPaste(current.db, shortCode))?.status).toBe('FAILED');
    expect(await readPayload(current.db, id)).toBeNull();
  });
});

it.each<UploadOutcome>([
  { kind: 'interrupted' },
  { kind: 'postponed', error: 'not now' },
  { kind: 'lost', error: 'worker lost' },
  failed,
])(
  'keeps the payload when an attempt follows ($kind), also from a settlement without effect',
  async (outcome) => {
    const { shortCode, id } = await newPaste(current.db);
    const upload = await claimOne(shortCode);
    expect(
      (await settleExecutions(current.db, uploadSubject, [settlement(upload, outcome)], byW1)).size,
    ).toBe(1);
    expect(
      (await settleExecutions(current.db, uploadSubject, [settlement(upload, succeeded)], byW1)).size,
    ).toBe(0);
    expect((await findPaste(current.db, shortCode))?.status).toBe('IN_PROGRESS');
    expect((await readPayload(current.db, id))?.toString()).toBe('hello');
  },
);
