import { secondsUntilBytesAllowed, type Database } from '@pasteflow/postgres';
import { RequestError } from '../http/errors/request-error.ts';

export interface JobLimits {
  /** Jobs of one user that wait or run; null: no limit. */
  readonly maxOpen: number | null;
  /** Bytes of the pastes of one user in an hour, imported or not; null: no limit. */
  readonly maxBytesPerHour: number | null;
}

/** The time of a short job. How long the user's own jobs take is not known. */
const OPEN_JOBS_RETRY_SECONDS = 10;

export function tooManyOpenJobs({ maxOpen }: JobLimits): RequestError {
  return rateLimited(
    `You have ${maxOpen} jobs that wait or run. Wait until one of them has ended.`,
    OPEN_JOBS_RETRY_SECONDS,
  );
}

/** @throws RequestError rate_limited when the user's pastes have used up their bytes of the hour */
export async function refuseOverImportLimit(
  db: Database,
  userId: string,
  { maxBytesPerHour: max }: JobLimits,
): Promise<void> {
  const seconds = max === null ? null : await secondsUntilBytesAllowed(db, userId, max);
  if (seconds === null) return;
  const wait = Math.max(1, Math.ceil(seconds));
  throw rateLimited(`The limit of ${max} bytes per hour is used up. Try again in ${wait} s.`, wait);
}

function rateLimited(detail: string, retryAfterSeconds: number): RequestError {
  return new RequestError('rate_limited', detail, { headers: { 'Retry-After': String(retryAfterSeconds) } });
}
