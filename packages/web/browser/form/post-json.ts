/** The answer to a request of the API. */
export interface JsonAnswer {
  readonly status: number;
  /** The document of the answer, a problem or what was made; empty: it is none. */
  readonly document: Readonly<Record<string, unknown>>;
}

/**
 * Posts JSON. XMLHttpRequest, because `fetch` says nothing of how much was sent.
 * @param onProgress gets the part that was sent, from 0 to 1
 * @throws Error without an answer
 */
export function postJson(
  url: string,
  body: object,
  { key, onProgress }: { readonly key: string; readonly onProgress?: (part: number) => void },
): Promise<JsonAnswer> {
  const request = new XMLHttpRequest();
  request.open('POST', url);
  request.setRequestHeader('Accept', 'application/json');
  request.setRequestHeader('Content-Type', 'application/json');
  request.setRequestHeader('Idempotency-Key', key);
  if (onProgress !== undefined)
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(loaded / total));
  return new Promise((resolve, reject) => {
    request.addEventListener('load', () =>
      resolve({ status: request.status, document: documentOf(request.responseText) }),
    );
    request.addEventListener('error', () => reject(new Error('The server did not answer.')));
    request.send(JSON.stringify(body));
  });
}

function documentOf(text: string): JsonAnswer['document'] {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? (parsed as JsonAnswer['document']) : {};
  } catch {
    return {};
  }
}

/** Why the API has refused. @param own texts in the language of the page, by the code */
export function refusalOf({ document }: JsonAnswer, own: Readonly<Record<string, string>>): string | null {
  const { code, detail } = document;
  const text = typeof code === 'string' && Object.hasOwn(own, code) ? own[code] : detail;
  return typeof text === 'string' ? text : null;
}
