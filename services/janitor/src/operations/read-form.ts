import type { IncomingMessage } from 'node:http';
import { takedownClasses, type TakedownClass } from '@pasteflow/domain';
import { Refusal } from './refusal.ts';

/** The form of a confirming step. */
export interface ConfirmedForm {
  readonly subject: string | null;
  /** How many the operator has confirmed. */
  readonly count: number;
  readonly reason: string;
  /** null: the form has none. */
  readonly class: TakedownClass | null;
}

/** A reason of 500 characters has at most 6 KB when it is encoded. */
const MAX_FORM_BYTES = 16 * 1024;
const MAX_REASON_CHARACTERS = 500;

/** @throws Refusal 413, 415 or 422 */
export async function readForm(req: IncomingMessage): Promise<ConfirmedForm> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(req.headers['content-type'] ?? ''))
    throw wrong(415, 'Send the form of the confirming step.');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_FORM_BYTES) throw wrong(413, `Send at most ${MAX_FORM_BYTES} bytes.`);
    chunks.push(chunk);
  }
  const form = new URLSearchParams(Buffer.concat(chunks).toString());
  const reason = (form.get('reason') ?? '').trim();
  if (reason === '' || reason.length > MAX_REASON_CHARACTERS || reason.includes('\0'))
    throw wrong(422, `Give a reason of at most ${MAX_REASON_CHARACTERS} characters. Go back and enter it.`);
  const count = form.get('count') ?? '';
  if (!/^\d{1,9}$/.test(count)) throw wrong(422, 'The form has no count. Go back to the confirming step.');
  const chosen = form.get('class');
  const found = takedownClasses.find((each) => each === chosen) ?? null;
  return { subject: form.get('subject'), count: Number(count), reason, class: found };
}

function wrong(status: number, detail: string): Refusal {
  return new Refusal(status, { title: 'The form is wrong', detail });
}
