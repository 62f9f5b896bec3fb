/** `gone`: somebody else has read the paste, or it was deleted. */
export interface FetchFailure {
  readonly kind: 'gone' | 'unreachable';
}

/** For the requests of this page: with the same key, a reveal whose answer broke off is repeated. */
const readerKey = randomKey();

/** The text of the document. A POST reads a paste that is deleted when it is read. */
export async function fetchDocument(url: string, method: string): Promise<string | FetchFailure> {
  try {
    const headers: Record<string, string> = method === 'POST' ? { 'Idempotency-Key': readerKey } : {};
    const response = await fetch(url, { method, headers });
    if (response.ok) return await response.text();
    return { kind: response.status === 410 || response.status === 451 ? 'gone' : 'unreachable' };
  } catch {
    return { kind: 'unreachable' };
  }
}

/** Not randomUUID(), which browsers provide on secure origins only. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
