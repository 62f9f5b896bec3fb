import type { Http } from '../http.ts';

/**
 * What one request for a paste that is deleted when it is read has shown.
 * - `content`: the whole content
 * - `gone`: 410, for everybody but the one reader
 * - `again`: the answer broke off, or says that the reader may try again. The paste may be claimed for this
 * reader
 * - `wrong`: what must never happen
 */
export type Reveal =
  | { readonly kind: 'content' | 'gone' | 'again' }
  | { readonly kind: 'wrong'; readonly answer: string };

/** A frozen process answers after 12 s. */
const ANSWER_WITHIN_MS = 120_000;

/** Sends one request of the reader with this key. */
export async function revealOnce(http: Http, code: string, content: Buffer, key: string): Promise<Reveal> {
  try {
    const answer = await http.request(`/v1/pastes/${code}/reveal`, {
      method: 'POST',
      headers: { 'idempotency-key': key },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    const body = Buffer.from(await answer.arrayBuffer());
    return meaningOf(answer.status, body, content);
  } catch {
    return { kind: 'again' };
  }
}

function meaningOf(status: number, body: Buffer, content: Buffer): Reveal {
  if (status === 200 && body.equals(content)) return { kind: 'content' };
  if (status === 410) return { kind: 'gone' };
  if ([429, 503].includes(status)) return { kind: 'again' };
  return { kind: 'wrong', answer: `${status} with ${body.length} bytes` };
}
