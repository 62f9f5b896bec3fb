import { secondsUntilImportAllowed, type Database } from '@pasteflow/postgres';
import type { JobLimits } from '../config.ts';
import { RequestError } from '../http/errors/request-error.ts';

/** The time of a short job. How long the user's own jobs take is not known. */
const OPEN_JOBS_RETRY_SECONDS = 10;

export function tooManyOpenJobs({ maxOpen }: JobLimits): RequestError {
  return rateLimited(
    `You have ${maxOpen} jobs that wait or run. Wait until one of them has ended.`,
    OPEN_JOBS_RETRY_SECONDS,
  );
}

/** @throws RequestError rate_limited when the user's imports have created too many bytes within the last hour */
export async function refuseOverImportLimit(
  db: Database,
  userId: string,
  { maxImportedBytesPerHour: max }: JobLimits,
): Promise<void> {
  const seconds = max === null ? null : await secondsUntilImportAllowed(db, userId, max);
  if (seconds === null) return;
  const wait = Math.max(1, Math.ceil(seconds));
  throw rateLimited(
    `Your imports have created ${max} bytes or more within the last hour. Try again in ${wait} s.`,
    wait,
  );
}

function rateLimited(detail: string, retryAfterSeconds: number): RequestError {
  return new RequestError('rate_limited', detail, { headers: { 'Retry-After': String(retryAfterSeconds) } });
}
