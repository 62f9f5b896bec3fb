import type { FaultProxy } from '@pasteflow/dev-stack/testing';

interface VisibilityChanges {
  readonly Entries: readonly { readonly VisibilityTimeout: number }[];
}

/**
 * For how many seconds workers have hidden messages that they had received: a number for each message of each
 * request so far. 0: the message was returned to the queue at once.
 */
export function visibilityChanges(sqs: FaultProxy): number[] {
  return sqs
    .matching({ target: 'ChangeMessageVisibilityBatch' })
    .flatMap(({ body }) => (JSON.parse(body?.toString() ?? '{"Entries":[]}') as VisibilityChanges).Entries)
    .map(({ VisibilityTimeout }) => VisibilityTimeout);
}
