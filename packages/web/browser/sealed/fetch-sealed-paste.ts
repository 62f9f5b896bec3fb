/** `gone`: somebody else has read the paste, or it was deleted. */
export interface FetchFailure {
  readonly kind: 'gone' | 'unreachable';
}

/** For the requests of this page: with the same key, a reveal whose answer broke off is repeated. */
const readerKey = randomKey();

const TRIES_OF_REVEAL = 4;
const WAIT_MS = 1000;

/**
 * The text of the document. A POST reads a paste that is deleted when it is read, and is repeated when its
 * answer breaks off.
 */
export async function fetchSealedPaste(url: string, method: string): Promise<string | FetchFailure> {
  const isReveal = method === 'POST';
  const headers: Record<string, string> = isReveal ? { 'Idempotency-Key': readerKey } : {};
  for (let tries = 1; ; tries += 1) {
    try {
      const response = await fetch(url, { method, headers });
      if (response.ok) return await response.text();
      if (response.status === 410 || response.status === 451) return { kind: 'gone' };
    } catch {
      // no answer, or a part of one
    }
    if (!isReveal || tries === TRIES_OF_REVEAL) return { kind: 'unreachable' };
    await new Promise((resolve) => setTimeout(resolve, tries * WAIT_MS));
  }
}

/** Not randomUUID(), which browsers provide on secure origins only. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
