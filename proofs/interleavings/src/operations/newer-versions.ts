import {
  createPaste,
  eraseUser,
  requestDeletionsOf,
  settleExecutions,
  uploadSubject,
  type UploadSettlement,
} from '@pasteflow/postgres';
import { pasteToCreate } from '@pasteflow/postgres/testing';
import { operation, statement } from '../harness/operation.ts';
import { NEWER } from './uploads.ts';

const version = { touches: ['paste', 'newer', 'execution'] } as const;

const endNewer = (name: string, ending: Pick<UploadSettlement, 'outcome' | 'nextStep'>) =>
  statement(name, version, async (db, { executionId, objects }, actor) => {
    if (ending.outcome.kind === 'succeeded') objects.add(NEWER);
    const settled = await settleExecutions(db, uploadSubject, [{ executionId, ...ending }], {
      actor,
      dispatched: true,
    });
    return { changed: settled.has(executionId) };
  });

/** The newer version is stored: the slug moves in the same transaction. */
export const storeNewer = endNewer('store newer', {
  outcome: { kind: 'succeeded', s3Url: `s3://pasteflow/pastes/${NEWER}` },
  nextStep: { kind: 'done' },
});

export const giveUpNewer = endNewer('give newer up', {
  outcome: { kind: 'failed', error: 'S3 answered 500' },
  nextStep: { kind: 'give_up', reason: 'six attempts failed' },
});

/** Another editor. */
export const supersede = statement('supersede', { touches: ['newer'] }, async (db, { shortCode, userId }) => {
  await createPaste(db, pasteToCreate({ supersedes: shortCode, parent: shortCode, userId }));
  return undefined;
});

/** A user ends the account, and the sweep asks for the deletion of the pastes that are not locked. */
export const erase = operation(
  'erase',
  { touches: ['paste', 'newer'], skips: ['paste', 'newer'] },
  () => null,
  [
    {
      statement: async (db, { userId }) => {
        await eraseUser(db, userId);
        return undefined;
      },
    },
    {
      statement: async (db, { userId }) => {
        await requestDeletionsOf(db, { userId, limit: 10 });
        return undefined;
      },
    },
  ],
);
