import type { Http } from '../http.ts';

/**
 * What one request for a paste that is deleted when it is read has shown.
 * - `content`: the whole content
 * - `gone`: 410, for everybody but the one reader
 * - `refused`: the paste was certainly not claimed. The reader may try again
 * - `cut`: the answer broke off, or Postgres did while it was asked: the paste may be gone, with nobody having read it
 * - `wrong`: what must never happen
 */
export type Reveal =
  | { readonly kind: 'content' | 'gone' | 'refused' | 'cut' }
  | { readonly kind: 'wrong'; readonly answer: string };

/** A frozen process answers after 12 s. */
const ANSWER_WITHIN_MS = 120_000;

/** Sends one request, and never a second one. */
export async function revealOnce(http: Http, code: string, content: Buffer): Promise<Reveal> {
  try {
    const answer = await http.request(`/v1/pastes/${code}/reveal`, {
      method: 'POST',
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    const body = Buffer.from(await answer.arrayBuffer());
    return meaningOf(answer.status, body, content);
  } catch (error) {
    return { kind: isUnsent(error) ? 'refused' : 'cut' };
  }
}

/** Nobody listened: the process was starting. */
function isUnsent(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: unknown } };
  return cause?.code === 'ECONNREFUSED';
}

function meaningOf(status: number, body: Buffer, content: Buffer): Reveal {
  if (status === 200 && body.equals(content)) return { kind: 'content' };
  if (status === 410) return { kind: 'gone' };
  if (status === 429) return { kind: 'refused' };
  // The commit of the claim may have succeeded although its answer was lost. Whatever else fails, fails before the claim.
  const isUnknown = status === 500 || (status === 503 && body.includes('"postgres does not answer'));
  if (isUnknown) return { kind: 'cut' };
  if (status === 503) return { kind: 'refused' };
  return { kind: 'wrong', answer: `${status} with ${body.length} bytes` };
}
