import { isShortCode, isUuid } from './short-code.ts';

export const OBJECT_KEY_PREFIX = 'pastes/';

/** The prefix of the objects that jobs write. Each job has its own folder below it. */
export const JOB_OBJECT_KEY_PREFIX = 'jobs/';

/**
 * The object that names the database to which the bucket belongs. It is outside the prefixes of pastes and
 * jobs.
 */
export const BUCKET_OWNER_KEY = 'pasteflow-owner';

/**
 * An object with which a worker finds out whether S3 refuses all that it sends. It belongs to no job, so that
 * `reconcile` removes one that is left.
 */
export const PROBE_KEY = `${JOB_OBJECT_KEY_PREFIX}00000000-0000-0000-0000-000000000000/probe`;

/** The key of a paste's object in the bucket. */
export function objectKeyOf(shortCode: string): string {
  return `${OBJECT_KEY_PREFIX}${shortCode}`;
}

/** The short code in the key of a paste object; null: the key is not that of a paste. */
export function shortCodeOfKey(key: string): string | null {
  if (!key.startsWith(OBJECT_KEY_PREFIX)) return null;
  const code = key.slice(OBJECT_KEY_PREFIX.length);
  return isShortCode(code) ? code : null;
}

/** The folder of the objects that a job writes. */
export function jobKeyPrefix(jobId: string): string {
  return `${JOB_OBJECT_KEY_PREFIX}${jobId}/`;
}

/** The id of the job whose folder contains the key; null: the key is in no such folder. */
export function jobIdOfKey(key: string): string | null {
  if (!key.startsWith(JOB_OBJECT_KEY_PREFIX)) return null;
  const [jobId = '', ...rest] = key.slice(JOB_OBJECT_KEY_PREFIX.length).split('/');
  return rest.length > 0 && isUuid(jobId) ? jobId : null;
}

/** How the object of a paste may be compressed. The names are those of HTTP's Content-Encoding. */
export const contentEncodings = ['gzip'] as const;
export type ContentEncoding = (typeof contentEncodings)[number];

/** @returns null when the field is missing or names no known encoding: the bytes are used as they are */
export function contentEncodingOf(field: string | undefined): ContentEncoding | null {
  return contentEncodings.find((each) => each === field?.trim().toLowerCase()) ?? null;
}
