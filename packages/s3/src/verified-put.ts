import { hash } from 'node:crypto';
import { isNotFound, ObjectNotStoredError } from './errors.ts';
import { objectBytes } from './find-content.ts';
import type { ObjectRequests, PutOptions } from './object-requests.ts';

/**
 * Stores an object, and makes sure that S3 has it: a store, or a proxy before it, may answer 200 and have stored nothing, or other bytes.
 * The ETag in the answer is the MD5 of the stored bytes. Where it is another one, as with encryption by KMS, the object is read back.
 * @throws ObjectNotStoredError, or the errors of ObjectRequests
 */
export async function verifiedPut(
  requests: ObjectRequests,
  key: string,
  content: Buffer,
  options: PutOptions,
): Promise<void> {
  const md5 = hash('md5', content, 'buffer');
  const etag = await requests.put(key, content, { ...options, md5 });
  if (isEtag(etag, md5.toString('hex'))) return;
  const { sha256, signal } = options;
  try {
    const { body } = await requests.get(key, { signal });
    const expected = { sizeBytes: content.length, sha256 };
    if ((await objectBytes(body, null, expected)) === null) throw new ObjectNotStoredError();
  } catch (error) {
    throw isNotFound(error) ? new ObjectNotStoredError({ cause: error }) : error;
  }
}

/** Compares an ETag, which some stores write in capitals or without quotes. */
export function isEtag(etag: string | undefined, expected: string): boolean {
  return etag?.replaceAll('"', '').toLowerCase() === expected;
}
