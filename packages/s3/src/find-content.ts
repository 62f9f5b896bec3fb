import { createHash, hash } from 'node:crypto';
import { addAbortSignal, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { ContentEncoding } from '@pasteflow/domain';
import { DamagedObjectError } from './compression.ts';
import { isNotFound, unavailable, NotReadBackError, ObjectNotStoredError } from './errors.ts';
import type { ObjectRequests, PutRequest } from './object-requests.ts';

/**
 * A body that receives nothing for this long is destroyed. No other timeout would end it: that of the request
 * ends with the headers.
 */
const STALL_TIMEOUT_MS = 10_000;

export interface ExpectedContent {
  readonly sizeBytes: number;
  readonly sha256: Buffer;
  readonly signal?: AbortSignal | undefined;
}

export interface FoundObject {
  readonly encoding: ContentEncoding | null;
  /** The size of the object. */
  readonly bytes: number;
}

/**
 * The object with exactly this content, or null. The object is read and hashed: two versions of a compressor
 * make different bytes of the same content.
 * @throws DependencyUnavailableError
 */
export async function findContent(
  requests: Pick<ObjectRequests, 'get'>,
  key: string,
  { sizeBytes, sha256, signal }: ExpectedContent,
): Promise<FoundObject | null> {
  try {
    const { body, encoding } = await requests.get(key, { signal });
    const bytes = await objectBytes(body, encoding, { sizeBytes, sha256, signal });
    return bytes === null ? null : { encoding, bytes };
  } catch (error) {
    if (isNotFound(error)) return null;
    throw unavailable(error);
  }
}

/** The size of an object with exactly this content; null: it has another one. */
export async function objectBytes(
  body: Readable,
  encoding: ContentEncoding | null,
  { sizeBytes, sha256, signal }: ExpectedContent,
  stallTimeoutMs = STALL_TIMEOUT_MS,
): Promise<number | null> {
  if (signal !== undefined) addAbortSignal(signal, body);
  const stalled = setTimeout(() => body.destroy(new Error('S3 stopped sending the object.')), stallTimeoutMs);
  const hash = createHash('sha256');
  const count = async (chunks: AsyncIterable<Buffer>): Promise<number> => {
    let bytes = 0;
    for await (const chunk of chunks) {
      stalled.refresh();
      bytes += chunk.length;
      if (bytes > sizeBytes) throw new DamagedObjectError(`The object has more than ${sizeBytes} bytes.`);
      hash.update(chunk);
    }
    return bytes;
  };
  const gunzip = encoding === null ? null : createGunzip();
  try {
    const bytes = gunzip === null ? await count(body) : await pipeline(body, gunzip, count);
    if (bytes !== sizeBytes || !hash.digest().equals(sha256)) return null;
    return gunzip?.bytesWritten ?? bytes;
  } catch (error) {
    if (isDamaged(error)) return null;
    throw error;
  } finally {
    clearTimeout(stalled);
  }
}

/** Also an error of zlib, for bytes that are no complete gzip. An error of the network has another code. */
function isDamaged(error: unknown): boolean {
  if (error instanceof DamagedObjectError) return true;
  return Error.isError(error) && String((error as { code?: unknown }).code).startsWith('Z_');
}

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
