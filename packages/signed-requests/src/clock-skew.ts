import type { ErrorAnswer } from './error-answer.ts';

/** As far as S3 tolerates: 15 minutes, and SQS as far. Below it, the signature was refused for another reason. */
const MAX_SKEW_MS = 15 * 60 * 1000;

/**
 * How far this process's clock is behind the clock of AWS, when AWS refused the request for that; null: it was refused for another
 * reason. The SDK corrects its own requests in the same way.
 */
export function clockSkewMs(
  { status, headers }: Pick<ErrorAnswer, 'status' | 'headers'>,
  now = Date.now(),
): number | null {
  if (status !== 403 || typeof headers.date !== 'string') return null;
  const skew = Date.parse(headers.date) - now;
  return Math.abs(skew) >= MAX_SKEW_MS ? skew : null;
}
