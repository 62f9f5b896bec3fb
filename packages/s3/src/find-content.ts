import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { GetObjectCommand, HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { contentEncodingOf, type ContentEncoding } from '@pasteflow/domain';
import { DamagedObjectError } from './compression/decompress.ts';
import { isNotFound, unavailable } from './errors.ts';

export interface ExpectedContent {
  readonly sizeBytes: number;
  readonly sha256: Buffer;
  readonly signal: AbortSignal;
}

export interface FoundObject {
  readonly encoding: ContentEncoding | null;
  /** The size of the object. */
  readonly bytes: number;
}

/**
 * The object with exactly this content, or null. An object that isn't compressed, and whose SHA-256 S3 has kept, is not read. Another one
 * is read and hashed: two versions of a compressor make different bytes of the same content.
 * @throws DependencyUnavailableError
 */
export async function findContent(
  client: S3Client,
  { bucket, key }: { bucket: string; key: string },
  { sizeBytes, sha256, signal }: ExpectedContent,
): Promise<FoundObject | null> {
  const input = { Bucket: bucket, Key: key };
  const options = { abortSignal: signal };
  try {
    const head = await client.send(new HeadObjectCommand({ ...input, ChecksumMode: 'ENABLED' }), options);
    const found = { encoding: contentEncodingOf(head.ContentEncoding), bytes: head.ContentLength ?? 0 };
    if (found.encoding === null) {
      if (found.bytes !== sizeBytes) return null;
      if (head.ChecksumSHA256 !== undefined)
        return head.ChecksumSHA256 === sha256.toString('base64') ? found : null;
    }
    const { Body } = await client.send(new GetObjectCommand(input), options);
    const isExpected = await hasContent(Body as Readable, found.encoding, { sizeBytes, sha256 });
    return isExpected ? found : null;
  } catch (error) {
    if (isNotFound(error)) return null;
    throw unavailable(error);
  }
}

async function hasContent(
  body: Readable,
  encoding: ContentEncoding | null,
  { sizeBytes, sha256 }: Pick<ExpectedContent, 'sizeBytes' | 'sha256'>,
): Promise<boolean> {
  const hash = createHash('sha256');
  const count = async (chunks: AsyncIterable<Buffer>): Promise<number> => {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > sizeBytes) throw new DamagedObjectError(`The object has more than ${sizeBytes} bytes.`);
      hash.update(chunk);
    }
    return bytes;
  };
  try {
    const bytes = encoding === null ? await count(body) : await pipeline(body, createGunzip(), count);
    return bytes === sizeBytes && hash.digest().equals(sha256);
  } catch (error) {
    if (isDamaged(error)) return false;
    throw error;
  }
}

/** Also an error of zlib, for bytes that are no complete gzip. An error of the network has another code. */
function isDamaged(error: unknown): boolean {
  if (error instanceof DamagedObjectError) return true;
  return Error.isError(error) && String((error as { code?: unknown }).code).startsWith('Z_');
}
