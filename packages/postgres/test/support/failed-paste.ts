import { decideNextStep, defaultRetryPolicy } from '@pasteflow/domain';
import {
  claimExecutions,
  createPaste,
  settleExecutions,
  uploadSubject,
  type Database,
  type NewPaste,
} from '../../src/index.ts';
import { pasteToCreate } from './database.ts';

/** A paste whose sixth put failed. */
export async function makeFailed(
  db: Database,
  options: Partial<NewPaste> = {},
): Promise<{ id: string; shortCode: string }> {
  const { shortCode, ...paste } = pasteToCreate(options);
  const { id } = (await createPaste(db, { ...paste, shortCode }))!;
  await failUpload(db, shortCode);
  return { id, shortCode };
}

/** Ends the upload of a paste as FAILED. */
export async function failUpload(db: Database, shortCode: string): Promise<void> {
  const claims = await claimExecutions(db, uploadSubject, {
    keys: [shortCode],
    actor: 'w1',
    leaseSeconds: 6,
  });
  const claim = claims.get(shortCode);
  if (claim?.kind !== 'claimed') throw new Error('not claimed');
  const outcome = { kind: 'failed', error: 'S3 answered 503' } as const;
  const nextStep = decideNextStep(outcome, { attempt: 6, losses: 0 }, defaultRetryPolicy, 0.5);
  const { executionId } = claim.execution;
  await settleExecutions(db, uploadSubject, [{ executionId, outcome, nextStep }], {
    actor: 'w1',
    dispatched: true,
  });
}
