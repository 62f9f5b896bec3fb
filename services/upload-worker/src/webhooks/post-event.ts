import { Agent as HttpAgent, request as requestHttp, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { publicLookup, type EndpointUrl, ForbiddenAddressError } from '@pasteflow/service-kit';

/** From the look-up of the name to the end of the answer. */
const ANSWER_TIMEOUT_MS = 15_000;

/** Of the body of an answer, which nobody looks at. What follows is not read. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** Answers 1xx before the answer. Nobody needs more than one. */
const MAX_INTERIM_ANSWERS = 16;

/** A connection to an address that doesn't answer is given up for the next one, which is often of the other family. */
const NEXT_ADDRESS_MS = 2500;

/** The header of an answer; its body is not kept. */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

interface SignedEvent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends an event to an endpoint. @throws when no status has come */
export type PostEvent = (endpoint: EndpointUrl, event: SignedEvent, signal: AbortSignal) => Promise<Answer>;

/**
 * Each request has a connection of its own, so that nothing of one endpoint reaches another. The agents are not the
 * global ones, which obey HTTPS_PROXY: a proxy would look names up by itself, and find inner addresses.
 */
export function createPostEvent({
  lookup = publicLookup(),
  timeoutMs = ANSWER_TIMEOUT_MS,
}: {
  readonly lookup?: LookupFunction;
  readonly timeoutMs?: number;
} = {}): PostEvent {
  const agents = {
    http: new HttpAgent({ keepAlive: false }),
    // Whatever NODE_TLS_REJECT_UNAUTHORIZED says, and without sessions, which would spare the look at the certificate.
    https: new HttpsAgent({ keepAlive: false, rejectUnauthorized: true, maxCachedSessions: 0 }),
  };
  return ({ url, isListed }, { headers, body }, signal) =>
    new Promise((resolve, reject) => {
      const timeout = AbortSignal.timeout(timeoutMs);
      const options = {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'Pasteflow-Webhooks',
          ...headers,
        },
        signal: AbortSignal.any([timeout, signal]),
        autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
        ...(!isListed && { lookup }),
      };
      const request =
        url.protocol === 'https:'
          ? requestHttps(url, { ...options, agent: agents.https })
          : requestHttp(url, { ...options, agent: agents.http });
      let answer: Answer | undefined;
      let failure: Error = new NoAnswerError();
      let interim = 0;
      request.on('information', () => {
        interim += 1;
        if (interim > MAX_INTERIM_ANSWERS) request.destroy(new InterimAnswersError());
      });
      request.on('response', (response) => {
        answer = { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] };
        readSome(response);
      });
      request.on('error', (error) => {
        failure = timeout.aborted ? new AnswerTimeoutError() : error;
      });
      // Follows the end of the answer, and every error. Once the status has come, no error says anything more.
      request.on('close', () => (answer === undefined ? reject(failure) : resolve(answer)));
      request.end(body);
    });
}

function readSome(response: IncomingMessage): void {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) response.destroy();
  });
  response.on('error', () => {}); // the request is closed
}

class AnswerTimeoutError extends Error {}

/** The connection was closed before an answer came. */
class NoAnswerError extends Error {}

/** Answers 1xx, again and again. */
class InterimAnswersError extends Error {}

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
