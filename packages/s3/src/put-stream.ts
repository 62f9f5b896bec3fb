import type { Readable } from 'node:stream';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
  type CompletedPart,
  type S3Client,
} from '@aws-sdk/client-s3';
import { unavailable } from './errors.ts';
import { abortMultipartUpload } from './multipart-uploads.ts';
import { growingParts, partsOf, type Part, type PartPlan } from './object-parts.ts';

/** Or being filled: 24 MiB are held at a time, and 96 MiB where an object has more than 23 GiB. */
const PARTS_IN_FLIGHT = 3;

/** S3 refuses a part that arrives damaged. */
const CHECKSUM = { ChecksumAlgorithm: 'CRC32' } as const;

export interface StreamTarget {
  readonly bucket: string;
  readonly key: string;
  readonly contentType: string;
}

interface StreamOptions {
  readonly signal?: AbortSignal | undefined;
  readonly plan?: PartPlan;
}

/**
 * Brings what `body` gives into S3, in parts as it comes. When the body fails, S3 fails or `signal` aborts, the body is destroyed and the
 * multipart upload aborted before this rejects; only when S3 doesn't answer to that either is something left. lib-storage has parts of one
 * length only, gives its requests no signal, and goes on reading after a part has failed.
 * @returns the bytes written
 * @throws the body's own error, ObjectTooLargeError, the signal's reason, or DependencyUnavailableError
 */
export async function putStream(
  client: S3Client,
  target: StreamTarget,
  body: Readable,
  { signal, plan = growingParts }: StreamOptions = {},
): Promise<number> {
  body.on('error', () => {}); // it is that of its parts; an error event that nobody listens to would end the process
  const spent: Buffer[] = [];
  const transfer = new Transfer(client, target, body, spent);
  const stop = (): void => transfer.fail(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted === true) stop();
  try {
    return await transfer.run(partsOf(body, plan, spent));
  } finally {
    signal?.removeEventListener('abort', stop);
    body.destroy();
  }
}

/** What has failed first is what the others fail of: it ends the requests and the body. */
class Transfer {
  readonly #client: S3Client;
  readonly #target: StreamTarget;
  readonly #body: Readable;
  readonly #spent: Buffer[];
  readonly #requests = new AbortController();
  #failure: { readonly error: unknown } | undefined;
  #bytes = 0;

  /** @param spent where what was in parts that S3 has is put */
  constructor(client: S3Client, target: StreamTarget, body: Readable, spent: Buffer[]) {
    this.#client = client;
    this.#target = target;
    this.#body = body;
    this.#spent = spent;
  }

  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#requests.abort();
    this.#body.destroy();
  }

  /** @returns the bytes written @throws the first failure */
  async run(parts: AsyncGenerator<Part, undefined>): Promise<number> {
    try {
      const { value: first } = await parts.next();
      if (first?.isLast === true) await this.#put(first);
      else if (first !== undefined) await this.#putParts(first, parts);
      return this.#bytes;
    } catch (error) {
      this.fail(error);
      throw this.#failure?.error;
    }
  }

  async #put({ content }: Part): Promise<void> {
    const { contentType: ContentType } = this.#target;
    await this.#sent(
      this.#client.send(
        new PutObjectCommand({ ...this.#place, ...CHECKSUM, ContentType, Body: content }),
        this.#abortable,
      ),
    );
    this.#bytes = content.length;
  }

  async #putParts(first: Part, rest: AsyncGenerator<Part>): Promise<void> {
    const { bucket, key, contentType: ContentType } = this.#target;
    // Let finish when all is to end: its answer is the name of what is to be aborted.
    const { UploadId: uploadId } = await this.#sent(
      this.#client.send(new CreateMultipartUploadCommand({ ...this.#place, ...CHECKSUM, ContentType })),
    );
    if (uploadId === undefined) throw unavailable(new Error('S3 began an upload without a name'));
    try {
      const done = await this.#sendAll(uploadId, first, rest);
      await this.#sent(
        this.#client.send(
          new CompleteMultipartUploadCommand({
            ...this.#place,
            UploadId: uploadId,
            MultipartUpload: { Parts: done },
          }),
          this.#abortable,
        ),
      );
    } catch (error) {
      this.fail(error);
      await abortMultipartUpload(this.#client, bucket, { key, uploadId }).catch(() => {});
      throw error;
    }
  }

  /** @returns what S3 has answered to each part, in their order */
  async #sendAll(uploadId: string, first: Part, rest: AsyncGenerator<Part>): Promise<CompletedPart[]> {
    const done: CompletedPart[] = [];
    const senders = Array.from({ length: PARTS_IN_FLIGHT }, async (_, n) => {
      try {
        if (n === 0) done.push(await this.#sendPart(uploadId, first));
        for (let part = await rest.next(); part.done !== true; part = await rest.next())
          done.push(await this.#sendPart(uploadId, part.value));
      } catch (error) {
        this.fail(error); // at once: the others may be waiting for a request, or for the body
      }
    });
    await Promise.all(senders);
    if (this.#failure !== undefined) throw this.#failure.error;
    return done.toSorted((a, b) => Number(a.PartNumber) - Number(b.PartNumber));
  }

  async #sendPart(uploadId: string, { number, content }: Part): Promise<CompletedPart> {
    const { ETag, ChecksumCRC32 } = await this.#sent(
      this.#client.send(
        new UploadPartCommand({
          ...this.#place,
          ...CHECKSUM,
          UploadId: uploadId,
          PartNumber: number,
          Body: content,
        }),
        this.#abortable,
      ),
    );
    this.#bytes += content.length;
    this.#spent.push(content);
    return { PartNumber: number, ETag, ChecksumCRC32 };
  }

  get #place(): { Bucket: string; Key: string } {
    return { Bucket: this.#target.bucket, Key: this.#target.key };
  }

  get #abortable(): { abortSignal: AbortSignal } {
    return { abortSignal: this.#requests.signal };
  }

  async #sent<Answer>(request: Promise<Answer>): Promise<Answer> {
    return await request.catch((error: unknown) => {
      throw unavailable(error);
    });
  }
}
