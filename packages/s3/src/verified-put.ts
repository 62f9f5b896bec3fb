import { hash } from 'node:crypto';
import { isNotFound, NotReadBackError, ObjectNotStoredError } from './errors.ts';
import { objectBytes } from './find-content.ts';
import type { ObjectRequests, PutRequest } from './object-requests.ts';

export interface VerifiedPut extends Omit<PutRequest, 'md5'> {
  /** Called when S3 has answered the put, and the object is going to be read back. */
  readonly onReadBack?: (() => void) | undefined;
}

/**
 * Stores an object, and makes sure that S3 has it: a store, or a proxy before it, may answer 200 and have
 * stored nothing, or other bytes. The ETag in the answer is the MD5 of the stored bytes. Where it is another
 * one, as with encryption by KMS, the object is read back.
 * @throws ObjectNotStoredError, NotReadBackError, or the errors of ObjectRequests
 */
export async function verifiedPut(
  requests: ObjectRequests,
  key: string,
  content: Buffer,
  { onReadBack, ...options }: VerifiedPut,
): Promise<void> {
  const md5 = hash('md5', content, 'buffer');
  const etag = await requests.put(key, content, { ...options, md5 });
  if (isEtag(etag, md5.toString('hex'))) return;
  onReadBack?.();
  const { sha256, signal } = options;
  try {
    const { body } = await requests.get(key, { signal });
    const expected = { sizeBytes: content.length, sha256, signal };
    if ((await objectBytes(body, null, expected)) !== null) return;
  } catch (error) {
    throw isNotFound(error)
      ? new ObjectNotStoredError({ cause: error })
      : new NotReadBackError({ cause: error });
  }
  throw new ObjectNotStoredError();
}

/** Compares an ETag, which some stores write in capitals or without quotes. */
export function isEtag(etag: string | undefined, expected: string): boolean {
  return etag?.replaceAll('"', '').toLowerCase() === expected;
}
