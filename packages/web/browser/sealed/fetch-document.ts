/** `gone`: somebody else has read the paste, or it was deleted. */
export interface FetchFailure {
  readonly kind: 'gone' | 'unreachable';
}

/** The text of the document. A POST reads a paste that is deleted when it is read. */
export async function fetchDocument(url: string, method: string): Promise<string | FetchFailure> {
  try {
    const response = await fetch(url, { method });
    if (response.ok) return await response.text();
    return { kind: response.status === 410 || response.status === 451 ? 'gone' : 'unreachable' };
  } catch {
    return { kind: 'unreachable' };
  }
}
