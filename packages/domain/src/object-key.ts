import { isShortCode } from './short-code.ts';

export const OBJECT_KEY_PREFIX = 'pastes/';

/** What jobs make lies under this prefix, a folder a job. */
export const JOB_OBJECT_KEY_PREFIX = 'jobs/';

/** The key of a paste's object in the bucket. */
export function objectKeyOf(shortCode: string): string {
  return `${OBJECT_KEY_PREFIX}${shortCode}`;
}

/** The short code that an object's key stands for, or null for a key that is not a paste's. */
export function shortCodeOfKey(key: string): string | null {
  if (!key.startsWith(OBJECT_KEY_PREFIX)) return null;
  const code = key.slice(OBJECT_KEY_PREFIX.length);
  return isShortCode(code) ? code : null;
}

/** The folder of all that a job has put into the bucket. */
export function jobKeyPrefix(jobId: string): string {
  return `${JOB_OBJECT_KEY_PREFIX}${jobId}/`;
}

/** The job whose folder an object's key is in, or null for a key that is in none. */
export function jobIdOfKey(key: string): string | null {
  return /^jobs\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\//.exec(key)?.[1] ?? null;
}
