import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { GetObjectCommand, HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { isNotFound, unavailable } from './errors.ts';

export interface ExpectedObject {
  readonly sizeBytes: number;
  readonly sha256: Buffer;
  readonly signal: AbortSignal;
}

/**
 * Whether the bucket has an object with exactly this content. Reads and hashes the object when S3 kept no SHA-256 of it.
 * @throws DependencyUnavailableError
 */
export async function holdsObject(
  client: S3Client,
  { bucket, key }: { bucket: string; key: string },
  { sizeBytes, sha256, signal }: ExpectedObject,
): Promise<boolean> {
  const input = { Bucket: bucket, Key: key };
  const options = { abortSignal: signal };
  try {
    const head = await client.send(new HeadObjectCommand({ ...input, ChecksumMode: 'ENABLED' }), options);
    if (head.ContentLength !== sizeBytes) return false;
    if (head.ChecksumSHA256 !== undefined) return head.ChecksumSHA256 === sha256.toString('base64');
    const { Body } = await client.send(new GetObjectCommand(input), options);
    const hash = createHash('sha256');
    for await (const chunk of Body as Readable) hash.update(chunk as Buffer);
    return hash.digest().equals(sha256);
  } catch (error) {
    if (isNotFound(error)) return false;
    throw unavailable(error);
  }
}
