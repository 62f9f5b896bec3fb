import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  UploadPartCommand,
  type CompletedPart,
  type S3Client,
} from '@aws-sdk/client-s3';
import { ObjectNotStoredError, isNotFound, unavailable } from './errors.ts';
import { abortMultipartUpload } from './multipart-uploads.ts';
import type { ObjectRequests } from './object-requests.ts';
import { isEtag, verifiedPut } from './find-content.ts';

/** Parts that are being filled or sent: 24 MiB in memory. */
const PARTS_IN_FLIGHT = 3;

/** How an object is sent: in parts by the client, or at once by the requests. */
export interface StreamClients {
  readonly client: S3Client;
  readonly requests: ObjectRequests;
}

export interface StreamTarget {
  readonly bucket: string;
  readonly key: string;
  readonly contentType: string;
}

interface SentPart {
  readonly part: CompletedPart;
  readonly md5: Buffer;
}

/**
 * Stores the content of `body` in S3, in parts while it is read. When the body fails, S3 fails or `signal`
 * aborts, the body is destroyed and the multipart upload aborted before this rejects. Parts are left in S3
 * only when the abort fails too. The SDK's lib-storage is not used: its parts all have the same size, its
 * requests get no signal, and it continues to read after a part has failed.
 * @returns the bytes written
 * @throws the body's own error, the signal's reason, or DependencyUnavailableError
 */
export async function putStream(
  clients: StreamClients,
  target: StreamTarget,
  body: Readable,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<number> {
  body.on('error', () => {}); // the loop over its parts throws the same error; without a listener the event would end the process
  const spent: Buffer[] = [];
  const transfer = new Transfer(clients, target, body, spent);
  const stop = (): void => transfer.fail(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted === true) stop();
  try {
    return await transfer.run(partsOf(body, spent));
  } finally {
    signal?.removeEventListener('abort', stop);
    body.destroy();
  }
}

/**
 * One object on its way to S3. The first failure ends all requests and the body, so later failures are only
 * its consequences.
 */
class Transfer {
  readonly #client: S3Client;
  readonly #whole: ObjectRequests;
  readonly #target: StreamTarget;
  readonly #body: Readable;
  readonly #spent: Buffer[];
  readonly #requests = new AbortController();
  #failure: { readonly error: unknown } | undefined;
  #bytes = 0;

  /** @param spent receives the buffers of parts that S3 has stored */
  constructor({ client, requests }: StreamClients, target: StreamTarget, body: Readable, spent: Buffer[]) {
    this.#client = client;
    this.#whole = requests;
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
    const { key, contentType } = this.#target;
    const sha256 = hash('sha256', content, 'buffer');
    const { signal } = this.#requests;
    await this.#sent(verifiedPut(this.#whole, key, content, { sha256, contentType, signal }));
    this.#bytes = content.length;
  }

  async #putParts(first: Part, rest: AsyncGenerator<Part>): Promise<void> {
    const { bucket, key, contentType: ContentType } = this.#target;
    // Not aborted by the signal: its response contains the id, without which the upload could not be aborted.
    const { UploadId: uploadId } = await this.#sent(
      this.#client.send(new CreateMultipartUploadCommand({ ...this.#place, ContentType })),
    );
    if (uploadId === undefined) throw unavailable(new Error('S3 started a multipart upload without an id.'));
    try {
      const done = await this.#sendAll(uploadId, first, rest);
      const { ETag } = await this.#sent(
        this.#client.send(
          new CompleteMultipartUploadCommand({
            ...this.#place,
            UploadId: uploadId,
            MultipartUpload: { Parts: done.map(({ part }) => part) },
          }),
          this.#abortable,
        ),
      );
      const md5s = Buffer.concat(done.map(({ md5 }) => md5));
      if (!isEtag(ETag, `${hash('md5', md5s)}-${done.length}`)) await this.#sent(this.#assertSize());
    } catch (error) {
      this.fail(error);
      await abortMultipartUpload(this.#client, bucket, { key, uploadId }).catch(() => {});
      throw error;
    }
  }

  /**
   * For an object whose ETag proves nothing, as with encryption by KMS. Reading it back would take too long.
   */
  async #assertSize(): Promise<void> {
    try {
      const head = await this.#client.send(new HeadObjectCommand(this.#place), this.#abortable);
      if (head.ContentLength !== this.#bytes) throw new ObjectNotStoredError();
    } catch (error) {
      throw isNotFound(error) ? new ObjectNotStoredError({ cause: error }) : error;
    }
  }

  /** @returns the completed parts in their order */
  async #sendAll(uploadId: string, first: Part, rest: AsyncGenerator<Part>): Promise<SentPart[]> {
    const done: SentPart[] = [];
    const senders = Array.from({ length: PARTS_IN_FLIGHT }, async (_, n) => {
      try {
        if (n === 0) done.push(await this.#sendPart(uploadId, first));
        for (let part = await rest.next(); part.done !== true; part = await rest.next())
          done.push(await this.#sendPart(uploadId, part.value));
      } catch (error) {
        this.fail(error); // immediately: the other senders may be waiting for a request or for the body
      }
    });
    await Promise.all(senders);
    if (this.#failure !== undefined) throw this.#failure.error;
    return done.toSorted((a, b) => Number(a.part.PartNumber) - Number(b.part.PartNumber));
  }

  async #sendPart(uploadId: string, { number, content }: Part): Promise<SentPart> {
    const md5 = hash('md5', content, 'buffer');
    const { ETag } = await this.#sent(
      this.#client.send(
        new UploadPartCommand({
          ...this.#place,
          ContentMD5: md5.toString('base64'), // S3 rejects a part that arrives damaged
          UploadId: uploadId,
          PartNumber: number,
          Body: content,
        }),
        this.#abortable,
      ),
    );
    this.#bytes += content.length;
    this.#spent.push(content);
    return { part: { PartNumber: number, ETag }, md5 };
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

/**
 * S3 requires at least 5 MiB of each part but the last. S3 takes up to 10,000 parts, and versitygw on ext4, which
 * keeps their list in an attribute of 4 KiB, some 800: 6 GiB.
 */
const PART_BYTES = 8 * 1024 * 1024;

/** A part of an object, sent in one request. */
interface Part {
  /** The first part has number 1. */
  readonly number: number;
  readonly content: Buffer;
  readonly isLast: boolean;
}

/**
 * Divides `body` into parts, at least one. A part is yielded when more content follows it, so the first part
 * shows whether it is the only one.
 * @param spent buffers of finished parts, which are filled again. Garbage of this size is collected late, and
 * was most of a process's memory.
 * @throws the body's error
 */
async function* partsOf(body: Readable, spent: Buffer[]): AsyncGenerator<Part> {
  const nextBuffer = (): Buffer => spent.pop() ?? Buffer.allocUnsafe(PART_BYTES);
  let number = 1;
  let content = nextBuffer();
  let filled = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    for (let consumed = 0; consumed < piece.length;) {
      if (filled === content.length) {
        yield { number, content, isLast: false };
        number += 1;
        content = nextBuffer();
        filled = 0;
      }
      const copied = piece.copy(content, filled, consumed);
      filled += copied;
      consumed += copied;
    }
  }
  yield { number, content: content.subarray(0, filled), isLast: true };
}
