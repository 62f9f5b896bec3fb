import type { RetryPolicy } from '@pasteflow/domain';
import {
  claimUploads,
  findOverdue,
  findUndispatched,
  settleUploads,
  type Database,
  type DueUpload,
} from '@pasteflow/postgres';
import { createQueue, deadLetterQueueName, decodeUpload, sendUploads, type SqsClient } from '@pasteflow/sqs';
import { dueBy } from './due.ts';
import type { Claim, Work } from './work.ts';

export interface WorkOptions {
  readonly db: Database;
  readonly sqs: SqsClient;
  readonly queueName: string;
  readonly policy: RetryPolicy;
}

export function uploadWork({ db, sqs, queueName, policy }: WorkOptions): Work {
  const queue = createQueue(sqs, queueName);
  const toDue = (uploads: readonly DueUpload[]) =>
    dueBy(db, uploads, (batch) =>
      sendUploads(
        sqs,
        queue,
        batch.map((upload) => ({ ...upload, context: {} })),
      ),
    );
  return {
    kind: 'upload',
    queue,
    deadLetters: createQueue(sqs, deadLetterQueueName(queueName)),
    policy,
    findUndispatched: async (options) => toDue(await findUndispatched(db, options)),
    findOverdue: async (options) => toDue(await findOverdue(db, options)),
    subjectOf: (body) => decodeUpload(body).shortCode,
    claim: async (shortCodes, by) => {
      const claims = await claimUploads(db, { shortCodes, ...by });
      return new Map(
        [...claims].map(([shortCode, claim]): [string, Claim] => [
          shortCode,
          claim.kind === 'claimed' ? { kind: 'claimed', ...claim.upload } : claim,
        ]),
      );
    },
    settle: async (settlements, options) => {
      const settled = await settleUploads(db, settlements, { ...options, dispatched: false });
      const successors = [...settled.values()].flatMap(({ successorId, shortCode }) =>
        // Without content: the worker reads it from its payload, which is rare enough.
        successorId === null ? [] : [{ executionId: successorId, shortCode, content: null }],
      );
      return { count: settled.size, successors: toDue(successors) };
    },
  };
}
