import { ForbiddenAddressError } from '@pasteflow/service-kit';

export class AnswerTimeoutError extends Error {}

/** The connection was closed before an answer came. */
export class NoAnswerError extends Error {}

/** Answers 1xx, again and again. */
export class InterimAnswersError extends Error {}

/** The process has no files, ports or memory left: the endpoint may work. */
const OWN_FAILURES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL']);

export function isOwnFailure(error: unknown): boolean {
  return OWN_FAILURES.has(codeOf(error));
}

/**
 * Why an endpoint gave no answer, for its owner. In words of our own: the message of an error names the host and its
 * addresses.
 */
export function wordsOfFailure(error: unknown): string {
  if (error instanceof AnswerTimeoutError) return 'it did not answer within 15 s';
  if (error instanceof InterimAnswersError) return 'it sent interim answers (1xx) without end';
  if (error instanceof ForbiddenAddressError) return 'its name has an address that is not public';
  const code = codeOf(error);
  return (
    wordsOfCode.find(([pattern]) => pattern.test(code))?.[1] ?? 'it closed the connection without an answer'
  );
}

const wordsOfCode: readonly (readonly [RegExp, string])[] = [
  [/^(?:ENOTFOUND|ENODATA)$/, 'its name has no address'],
  [
    /^(?:EAI_AGAIN|ESERVFAIL|ETIMEOUT|EREFUSED|ECANCELLED|EFORMERR|ENOTIMP|EBADRESP|EBADNAME)$/,
    'its name could not be looked up',
  ],
  [/^ECONNREFUSED$/, 'it refused the connection'],
  [/^(?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN)$/, 'it could not be reached'],
  [/^(?:CERT_HAS_EXPIRED|CERT_NOT_YET_VALID)$/, 'its certificate is not valid at this time'],
  [/^ERR_TLS_CERT_ALTNAME/, 'its certificate is for another name'],
  [/CERT|^UNABLE_TO_|^HOSTNAME_MISMATCH$|_CA$/, 'its certificate is not trusted'],
  [/^(?:EPROTO$|ERR_SSL|ERR_TLS)/, 'TLS failed'],
  [/^HPE_/, 'its answer is not HTTP'],
];

function codeOf(error: unknown): string {
  const { code } = (Error.isError(error) ? error : {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}
