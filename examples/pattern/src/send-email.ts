import type { Database } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import { claimEmail, settleEmail, type ClaimedEmail } from './statements.ts';

export interface SendEmail {
  readonly db: Database;
  readonly logger: Logger;
  readonly mailUrl: string;
}

/** An attempt ends before its lease does. Longer work renews its lease, as the upload-worker does. */
const LEASE_SECONDS = 6;
const TIMEOUT_MS = 4000;

/**
 * Claim, send, settle. The message has then done its work, whatever the outcome: if the e-mail waits for
 * another attempt, the sweep sends another message.
 * @throws when Postgres does not answer: the message comes back, and the sweep ends the claim
 */
export async function sendEmail({ db, logger, mailUrl }: SendEmail, id: string): Promise<void> {
  const claimed = await claimEmail(db, id, LEASE_SECONDS);
  if (claimed === null) return;
  const error = await post(mailUrl, claimed);
  if (await settleEmail(db, claimed, error)) logger.info('attempt settled', { id, error });
  else logger.warn('attempt came too late', { id });
}

/**
 * Two workers can send the same e-mail, one of them late: no fence reaches a server outside of Postgres. So
 * the effect is idempotent: the server takes the e-mails of one key once.
 * @returns what went wrong, or null
 */
async function post(url: string, { id, recipient, body }: ClaimedEmail): Promise<string | null> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': id },
      body: JSON.stringify({ recipient, body }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return response.ok ? null : `the mail server answered ${response.status}`;
  } catch (error) {
    return `the mail server did not answer: ${String(error)}`;
  }
}
