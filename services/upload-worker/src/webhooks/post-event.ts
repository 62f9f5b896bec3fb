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

/** Sends an event to an endpoint. @throws when no status has come, and what `signal` was aborted with */
export type PostEvent = (endpoint: EndpointUrl, event: SignedEvent, signal: AbortSignal) => Promise<Answer>;

/**
 * Each request has a connection of its own, so that nothing of one endpoint reaches another. The agents are not the
 * global ones, which obey HTTPS_PROXY: a proxy would look names up by itself, and find inner addresses.
 */
export function createPostEvent({
  lookup = publicLookup(),
  timeoutMs = ANSWER_TIMEOUT_MS,
}: {
  readonly lookup?: LookupFunction | undefined;
  readonly timeoutMs?: number | undefined;
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
      let interim = 0;
      request.on('information', () => {
        interim += 1;
        if (interim > MAX_INTERIM_ANSWERS) request.destroy(new InterimAnswersError());
      });
      request.on('response', (response) => {
        void readToTheEnd(response).then(() =>
          resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] }),
        );
      });
      request.on('error', (error) => {
        if (signal.aborted) reject(signal.reason);
        else reject(timeout.aborted ? new AnswerTimeoutError() : error);
      });
      request.on('close', () => reject(new NoAnswerError())); // also after an answer, when it has no effect
      request.end(body);
    });
}

/** Resolves when the body has ended, or broken off, or is too long: the status has said everything. */
function readToTheEnd(response: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) response.destroy();
    });
    response.on('error', () => {}); // 'close' follows
    response.on('close', resolve);
  });
}
