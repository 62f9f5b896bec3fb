import { Agent as HttpAgent, request as requestHttp, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { publicLookup, type EndpointUrl } from '@pasteflow/service-kit';
import { AnswerTimeoutError, InterimAnswersError, NoAnswerError } from './endpoint-failure.ts';

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
