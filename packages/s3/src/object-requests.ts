import type { Readable } from 'node:stream';
import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { contentEncodingOf, type ContentEncoding } from '@pasteflow/domain';

export interface StoredObject {
  /** The caller must consume or destroy it. Until then it holds its connection. */
  readonly body: Readable;
  /**
   * Bytes of this body. For a range: the bytes of the range. null: S3, or a proxy before it, sends it in
   * chunks.
   */
  readonly contentLength: number | null;
  /** How the object is compressed; null: not at all. */
  readonly encoding: ContentEncoding | null;
  /** The body is the requested range. Otherwise it is the whole object. */
  readonly isPart: boolean;
}

/** All of a put, with the digests of the bytes that are sent. */
export interface PutRequest {
  /** The signature contains it: S3 rejects an object that arrives damaged. */
  readonly sha256: Buffer;
  readonly md5: Buffer;
  /** Default: bytes of any kind. */
  readonly contentType?: string | undefined;
  /** How the bytes are compressed. Default: not at all. */
  readonly encoding?: ContentEncoding | null | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface GetOptions {
  /** Its first and last byte, both included. */
  readonly range?: { readonly start: number; readonly end: number } | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The two requests that every paste needs, as one of several clients sends them. All clients throw the same
 * errors: S3ServiceException for an answer of S3, AbortError after an abort, and otherwise the error of the
 * network, with its code.
 */
export interface ObjectRequests {
  /** @returns the ETag of the answer */
  put(key: string, content: Buffer, request: PutRequest): Promise<string | undefined>;
  get(key: string, options: GetOptions): Promise<StoredObject>;
  close(): void;
}

export const CONTENT_TYPE = 'application/octet-stream';

export const rangeHeader = ({ start, end }: NonNullable<GetOptions['range']>): string =>
  `bytes=${start}-${end}`;

/** The requests as the AWS SDK sends them. */
export class SdkRequests implements ObjectRequests {
  readonly #client: S3Client;
  readonly #bucket: string;

  constructor(client: S3Client, bucket: string) {
    this.#client = client;
    this.#bucket = bucket;
  }

  async put(
    key: string,
    content: Buffer,
    { md5, contentType = CONTENT_TYPE, encoding, signal }: PutRequest,
  ): Promise<string | undefined> {
    const { ETag } = await this.#client.send(
      new PutObjectCommand({
        Bucket: this.#bucket,
        Key: key,
        Body: content,
        ContentLength: content.length,
        ContentType: contentType,
        ...(encoding && { ContentEncoding: encoding }),
        ContentMD5: md5.toString('base64'),
      }),
      signal ? { abortSignal: signal } : {},
    );
    return ETag;
  }

  async get(key: string, { range, signal }: GetOptions): Promise<StoredObject> {
    const answer = await this.#client.send(
      new GetObjectCommand({ Bucket: this.#bucket, Key: key, ...(range && { Range: rangeHeader(range) }) }),
      signal ? { abortSignal: signal } : {},
    );
    return {
      body: answer.Body as Readable,
      contentLength: answer.ContentLength ?? null,
      encoding: contentEncodingOf(answer.ContentEncoding),
      isPart: answer.ContentRange !== undefined,
    };
  }

  /** The client is not this object's own. */
  close(): void {}
}
