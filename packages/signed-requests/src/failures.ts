import { setTimeout as sleep } from 'node:timers/promises';
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import type { AwsCredentialIdentity, RetryErrorType, RetryStrategy, RetryStrategyV2 } from '@smithy/types';

/** An answer that is an error, with its whole body, in the format of its service or of a proxy. */
export interface ErrorAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** What requests take from a client of the SDK. */
export interface AwsClient {
  readonly config: CorrectedClock & {
    readonly credentials: () => Promise<AwsCredentialIdentity>;
    readonly retryStrategy: () => Promise<RetryStrategy | RetryStrategyV2>;
  };
}

/** The codes of undici's own errors, and what Node's HTTP client says in the same cases. */
const CODES: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: 'ETIMEDOUT',
  UND_ERR_BODY_TIMEOUT: 'ETIMEDOUT',
  UND_ERR_SOCKET: 'ECONNRESET',
};

/**
 * An error without an answer, with the code that the SDK's client would give it: the code decides about
 * another attempt, and is part of the reason that the owner of a paste sees.
 */
export function networkError(error: unknown, service: string): unknown {
  const code = CODES[codeOf(error)];
  return code === undefined
    ? error
    : Object.assign(new Error(`The connection to ${service} failed.`, { cause: error }), {
        ...(code === 'ETIMEDOUT' && { name: 'TimeoutError' }),
        code,
      });
}

export function timeoutError(ms: number, service: string): Error {
  return Object.assign(new Error(`${service} did not answer within ${ms} ms.`), {
    name: 'TimeoutError',
    code: 'ETIMEDOUT',
  });
}

function codeOf(error: unknown): string {
  return Error.isError(error) ? String((error as { code?: unknown }).code) : '';
}

type Failure = Parameters<typeof isTransientError>[0];

/**
 * Repeats a request as the SDK does, by the strategy of its client: as often as `maxAttempts` says, after
 * waits that grow, and not when the same request would fail again.
 */
export async function withRetries<Answer>(
  { config }: AwsClient,
  send: () => Promise<Answer>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const strategy = (await config.retryStrategy()) as RetryStrategyV2; // the other kind is that of older clients
  let token = await strategy.acquireInitialRetryToken('pasteflow');
  for (;;) {
    try {
      const answer = await send();
      strategy.recordSuccess(token);
      return answer;
    } catch (thrown) {
      const error = thrown as Failure;
      const errorType = errorTypeOf(error);
      if (errorType === 'CLIENT_ERROR') throw error;
      try {
        token = await strategy.refreshRetryTokenForRetry(token, { error, errorType });
      } catch {
        throw error; // the last attempt
      }
      await sleep(token.getRetryDelay(), undefined, { signal });
    }
  }
}

/** Whether the service refused the request because of those before it, e.g. RequestThrottled of SQS, a 403. */
export function isThrottling(error: Error): boolean {
  return isThrottlingError(error as Failure);
}

function errorTypeOf(error: Failure): RetryErrorType {
  if (isThrottling(error)) return 'THROTTLING';
  if (isTransientError(error)) return 'TRANSIENT';
  if (isServerError(error)) return 'SERVER_ERROR';
  return 'CLIENT_ERROR';
}

/** As the SDK counts: a smaller difference is not why a request was refused. AWS refuses 15 minutes. */
const MIN_SKEW_MS = 4 * 60 * 1000;

/**
 * What the clock of a client of the SDK is ahead of the clock of this process, in ms. The SDK corrects it
 * after each answer.
 */
interface CorrectedClock {
  systemClockOffset: number;
}

/** Sets the clock by an answer that refuses a request. */
export function setClock(
  config: CorrectedClock,
  { statusCode, headers }: ErrorAnswer,
  now = Date.now(),
): void {
  if (statusCode < 400 || statusCode >= 500 || typeof headers.date !== 'string') return;
  if (headers.age !== undefined) return; // a cache's answer, with the time at which it was stored
  const offset = Date.parse(headers.date) - now;
  if (isSkewed(config, offset)) config.systemClockOffset = offset;
}

/**
 * Whether the clock differs so much from one with this offset that a server may have refused the time of a
 * request.
 */
export function isSkewed({ systemClockOffset }: CorrectedClock, offset: number): boolean {
  return Math.abs(systemClockOffset - offset) >= MIN_SKEW_MS;
}
