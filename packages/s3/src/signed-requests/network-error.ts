/** The codes of undici's own errors, and what Node's HTTP client says in the same cases. */
const CODES: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: 'ETIMEDOUT',
  UND_ERR_BODY_TIMEOUT: 'ETIMEDOUT',
  UND_ERR_SOCKET: 'ECONNRESET',
};

/**
 * An error without an answer of S3, with the code that the SDK's client would give it: the code decides about another attempt, and is
 * part of the reason that the owner of a paste sees.
 */
export function networkError(error: unknown): unknown {
  const code = CODES[codeOf(error)];
  return code === undefined
    ? error
    : Object.assign(new Error('The connection to S3 failed.', { cause: error }), { code });
}

export function timeoutError(ms: number): Error {
  return Object.assign(new Error(`S3 did not answer within ${ms} ms.`), {
    name: 'TimeoutError',
    code: 'ETIMEDOUT',
  });
}

function codeOf(error: unknown): string {
  return Error.isError(error) ? String((error as { code?: unknown }).code) : '';
}
