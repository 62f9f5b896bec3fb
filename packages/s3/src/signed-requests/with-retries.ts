import { setTimeout as sleep } from 'node:timers/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import type { RetryErrorType, RetryStrategyV2 } from '@smithy/types';

type Failure = Parameters<typeof isTransientError>[0];

/**
 * Repeats a request as the SDK does, by the strategy of its client: as often as `maxAttempts` says, after waits that grow, and not when
 * the same request would fail again.
 */
export async function withRetries<Answer>(
  { config }: S3Client,
  send: () => Promise<Answer>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const strategy = (await config.retryStrategy()) as RetryStrategyV2; // the other kind is that of older clients
  let token = await strategy.acquireInitialRetryToken('s3');
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

function errorTypeOf(error: Failure): RetryErrorType {
  if (isThrottlingError(error)) return 'THROTTLING';
  if (isTransientError(error)) return 'TRANSIENT';
  if (isServerError(error)) return 'SERVER_ERROR';
  return 'CLIENT_ERROR';
}
