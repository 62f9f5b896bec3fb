import { findUndispatched, rescueEmails, stampDispatched } from './statements.ts';
import type { Database } from '@pasteflow/postgres';
import { sendEntries, type Queue, type SqsClient } from '@pasteflow/sqs';
import { encodeMessage } from './message.ts';

/**
 * One pass: returns what crashed workers held, and sends the messages of what is due. Two passes at once, or
 * one that dies after any statement, do no harm: an e-mail may get a second message, and only one claim.
 */
export async function sweep(db: Database, sqs: SqsClient, queue: Queue): Promise<void> {
  await rescueEmails(db);
  const ids = await findUndispatched(db);
  const entries = ids.map((id) => ({ id, body: encodeMessage(id), attributes: undefined }));
  const accepted = await sendEntries(sqs, queue, entries);
  await stampDispatched(
    db,
    accepted.map(({ id }) => id),
  );
}
