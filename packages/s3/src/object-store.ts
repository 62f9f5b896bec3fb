import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { GetObjectCommand, HeadBucketCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { attachmentAs } from './attachment.ts';
import { createS3Client, type S3ClientOptions } from './client.ts';
import { deleteObjects, type RefusedKey } from './delete-objects.ts';
import { DirectIfPossible } from './direct-requests.ts';
import { isNotFound, isRangeRefused, unavailable } from './errors.ts';
import {
  findContent,
  type ExpectedContent,
  type FoundObject,
  verifiedPut,
  type VerifiedPut,
} from './find-content.ts';
import { abortMultipartUpload, listMultipartUploads, type OpenUpload } from './multipart-uploads.ts';
import { SdkRequests, type GetOptions, type ObjectRequests, type StoredObject } from './object-requests.ts';
import { putStream } from './put-stream.ts';
import { readText, writeText, type SmallObject } from './small-objects.ts';
import {
  listDeletedObjects,
  restoreDeletedObject,
  type DeletedObject,
  readKeptVersions,
  type KeptVersions,
} from './versions.ts';

export interface ListedObject {
  readonly key: string;
  readonly lastModified: Date;
}

/** The bucket with the content. Methods throw DependencyUnavailableError unless stated otherwise. */
export class ObjectStore {
  readonly bucket: string;
  readonly #client: S3Client;
  readonly #requests: ObjectRequests;
  readonly #signing: S3Client;

  /**
   * @param requests for `put` and `get`
   * @param signing signs URLs
   */
  constructor({
    bucket,
    client,
    requests,
    signing,
  }: {
    readonly bucket: string;
    readonly client: S3Client;
    readonly requests: ObjectRequests;
    readonly signing: S3Client;
  }) {
    this.bucket = bucket;
    this.#client = client;
    this.#requests = requests;
    this.#signing = signing;
  }

  urlOf(key: string): string {
    return `s3://${this.bucket}/${key}`;
  }

  /**
   * Stores an object with one request (and its repetitions, if the client is configured for them), and reads
   * it back when the answer does not prove that S3 has it.
   * @throws ObjectNotStoredError, NotReadBackError, or the errors of ObjectRequests, so that the caller can
   * distinguish an abort from a failure
   */
  async put(key: string, content: Buffer, options: VerifiedPut): Promise<void> {
    await verifiedPut(this.#requests, key, content, options);
  }

  /**
   * Stores the content of a stream in parts, and holds 24 MiB in memory. When the body fails, S3 fails or the
   * signal aborts, the body is destroyed and the multipart upload aborted before this rejects.
   * @returns the bytes written
   * @throws the body's own error, the signal's reason, or DependencyUnavailableError
   */
  async putStream(
    key: string,
    body: Readable,
    { contentType, signal }: { contentType: string; signal?: AbortSignal },
  ): Promise<number> {
    const target = { bucket: this.bucket, key, contentType };
    return await putStream({ client: this.#client, requests: this.#requests }, target, body, { signal });
  }

  /**
   * The whole object is returned when S3 refuses the range, which ends beyond an object that is shorter than
   * expected.
   * @returns null when the object does not exist
   */
  async get(key: string, options: GetOptions = {}): Promise<StoredObject | null> {
    try {
      return await this.#requests.get(key, options);
    } catch (error) {
      if (isNotFound(error)) return null;
      if (isRangeRefused(error) && options.range !== undefined)
        return await this.get(key, { signal: options.signal });
      throw unavailable(error);
    }
  }

  /** The object with exactly this content, compressed or not; null: the bucket has none under this key. */
  async findContent(key: string, expected: ExpectedContent): Promise<FoundObject | null> {
    return await findContent(this.#requests, key, expected);
  }

  /**
   * Deletes up to 1000 keys in one request. A missing object counts as deleted.
   * @returns the keys that S3 did not delete
   */
  async deleteMany(keys: readonly string[]): Promise<readonly RefusedKey[]> {
    return await deleteObjects(this.#client, this.bucket, keys);
  }

  /** Yields all objects under the prefix in key order, in pages of up to 1000. */
  async *list(prefix: string): AsyncGenerator<readonly ListedObject[]> {
    let continuation: string | undefined;
    do {
      const page = await this.#client
        .send(
          new ListObjectsV2Command({
            Bucket: this.bucket,
            Prefix: prefix,
            ...(continuation !== undefined && { ContinuationToken: continuation }),
          }),
        )
        .catch((error: unknown) => {
          throw unavailable(error);
        });
      yield (page.Contents ?? []).flatMap(({ Key, LastModified }) =>
        Key !== undefined && LastModified !== undefined ? [{ key: Key, lastModified: LastModified }] : [],
      );
      continuation = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (continuation !== undefined);
  }

  /**
   * Yields the multipart uploads under the prefix that were neither completed nor aborted, in key order, in
   * pages.
   */
  listMultipartUploads(prefix: string): AsyncGenerator<readonly OpenUpload[]> {
    return listMultipartUploads(this.#client, this.bucket, prefix);
  }

  /**
   * Aborts a multipart upload and frees its parts. One that was already completed or aborted counts as
   * aborted.
   */
  async abortMultipartUpload(upload: Pick<OpenUpload, 'key' | 'uploadId'>): Promise<void> {
    await abortMultipartUpload(this.#client, this.bucket, upload);
  }

  /** Reads an object of a few kilobytes as text, with the time of S3. */
  async readText(key: string): Promise<SmallObject> {
    return await readText(this.#client, this.bucket, key);
  }

  /**
   * Stores a text. With `onlyIfAbsent` it replaces no object, unless the store ignores conditions: read it
   * afterwards.
   */
  async writeText(key: string, text: string, options: { readonly onlyIfAbsent: boolean }): Promise<void> {
    await writeText(this.#client, { bucket: this.bucket, key, text }, options);
  }

  /**
   * Yields the deleted objects under the prefix that can be restored, in key order. The bucket needs
   * versioning.
   */
  listDeleted(prefix: string): AsyncGenerator<DeletedObject> {
    return listDeletedObjects(this.#client, this.bucket, prefix);
  }

  /** Makes the last version of a deleted object the current one. */
  async restore(deleted: DeletedObject): Promise<void> {
    await restoreDeletedObject(this.#client, this.bucket, deleted);
  }

  /** How long the bucket keeps what is deleted. Needs three rights to read its settings. */
  async keptVersions(): Promise<KeptVersions> {
    return await readKeptVersions(this.#client, this.bucket);
  }

  /**
   * Returns a URL that downloads the object without credentials until the URL expires. Makes no request, so
   * the object may be missing.
   */
  async presign(
    key: string,
    {
      expiresInSeconds,
      downloadName,
      contentType,
    }: {
      /** From now on. S3 allows up to 7 days. */
      readonly expiresInSeconds: number;
      /** The file name under which a browser saves the object. */
      readonly downloadName: string;
      /** Default: the one that the object was stored with. */
      readonly contentType?: string | undefined;
    },
  ): Promise<string> {
    const command = new GetObjectCommand({
      Bucket: this.bucket,
      Key: key,
      ResponseContentDisposition: attachmentAs(downloadName),
      ...(contentType !== undefined && { ResponseContentType: contentType }),
    });
    const signingDate = new Date(Date.now() + this.#client.config.systemClockOffset); // as S3 counts
    try {
      return await getSignedUrl(this.#signing, command, { expiresIn: expiresInSeconds, signingDate });
    } catch (error) {
      throw unavailable(error);
    }
  }

  async ping(signal?: AbortSignal): Promise<void> {
    try {
      await this.#client.send(
        new HeadBucketCommand({ Bucket: this.bucket }),
        signal ? { abortSignal: signal } : {},
      );
    } catch (error) {
      throw unavailable(error);
    }
  }

  close(): void {
    this.#requests.close();
    this.#client.destroy();
    this.#signing.destroy();
  }
}

/** The line of the log for `onDirectRefused`. */
export const DIRECT_REFUSED =
  'S3 refuses direct requests and grants those of the SDK: S3_REQUESTS=sdk from now on';

/**
 * `direct`: signed and sent without the middleware of the AWS SDK, which takes four fifths of their CPU time.
 */
type S3Requests = 'direct' | 'sdk';

/**
 * Creates an object store with its own client. Call `close()` at the end.
 * @throws when Node has no MD5, so that the service does not start
 */
export function createObjectStore({
  bucket,
  publicEndpoint,
  requests = 'sdk',
  ...options
}: S3ClientOptions & {
  readonly bucket: string;
  /**
   * The endpoint of presigned URLs, when clients reach S3 under another address than this process. It must be
   * known before signing: a signature is valid for one host only, so a URL cannot be rewritten afterwards.
   */
  readonly publicEndpoint?: string | undefined;
  /** How puts and gets are sent. Default: `sdk`. */
  readonly requests?: S3Requests;
}): ObjectStore {
  assertMd5();
  const client = createS3Client(options);
  return new ObjectStore({
    bucket,
    client,
    requests:
      requests === 'direct' ? new DirectIfPossible(client, bucket, options) : new SdkRequests(client, bucket),
    signing: publicEndpoint === undefined ? client : createS3Client({ ...options, endpoint: publicEndpoint }),
  });
}

function assertMd5(): void {
  try {
    hash('md5', '');
  } catch (cause) {
    throw new Error(
      'Node has no MD5, which each put to S3 needs (Content-MD5). Start Node without FIPS mode.',
      { cause },
    );
  }
}
