import type { Readable } from 'node:stream';
import { HeadBucketCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import { deleteObjects, type RefusedKey } from './delete-objects.ts';
import { isNotFound, isRangeRefused, unavailable } from './errors.ts';
import { findContent, type ExpectedContent, type FoundObject } from './find-content.ts';
import { abortMultipartUpload, listMultipartUploads, type OpenUpload } from './multipart-uploads.ts';
import type { GetOptions, ObjectRequests, StoredObject, VerifiedPutOptions } from './object-requests.ts';
import { readKeptVersions, type KeptVersions } from './kept-versions.ts';
import { presign, type PresignOptions } from './presign.ts';
import { putStream } from './put-stream.ts';
import { readText, writeText, type SmallObject } from './small-objects.ts';
import { verifiedPut } from './verified-put.ts';
import { listDeletedObjects, restoreDeletedObject, type DeletedObject } from './versions.ts';

export interface ListedObject {
  readonly key: string;
  readonly lastModified: Date;
}

export interface ObjectStoreClients {
  readonly bucket: string;
  readonly client: S3Client;
  /** For `put` and `get`. */
  readonly requests: ObjectRequests;
  /** Signs URLs. */
  readonly signing: S3Client;
}

/** The bucket with the content. Methods throw DependencyUnavailableError unless stated otherwise. */
export class ObjectStore {
  readonly bucket: string;
  readonly #client: S3Client;
  readonly #requests: ObjectRequests;
  readonly #signing: S3Client;

  constructor({ bucket, client, requests, signing }: ObjectStoreClients) {
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
  async put(key: string, content: Buffer, options: VerifiedPutOptions): Promise<void> {
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
  async presign(key: string, options: PresignOptions): Promise<string> {
    const now = new Date(Date.now() + this.#client.config.systemClockOffset); // as S3 counts
    return await presign(this.#signing, { bucket: this.bucket, key, now }, options);
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
