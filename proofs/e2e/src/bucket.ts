import { gunzipSync } from 'node:zlib';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  paginateListObjectsV2,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { BUCKET_OWNER_KEY } from '@pasteflow/domain';
import { s3ClientOf, type Aws } from './aws.ts';

/** The cluster's bucket, accessed without a proxy. */
export class Bucket {
  readonly name: string;
  readonly #client: S3Client;

  constructor({ s3, bucket }: Aws) {
    this.name = bucket;
    this.#client = s3ClientOf(s3);
  }

  /** Every key, in order. */
  async keys(): Promise<string[]> {
    return [...(await this.sizes()).keys()];
  }

  /**
   * Every key, in order, with the size of its object in bytes. Omits the object that names the bucket's
   * owner.
   */
  async sizes(): Promise<Map<string, number>> {
    const sizes = new Map<string, number>();
    const pages = paginateListObjectsV2({ client: this.#client }, { Bucket: this.name });
    for await (const { Contents = [] } of pages)
      for (const { Key = '', Size = NaN } of Contents) sizes.set(Key, Size);
    sizes.delete(BUCKET_OWNER_KEY);
    return sizes;
  }

  /** The keys of multipart uploads that are neither completed nor aborted. */
  async openUploads(): Promise<string[]> {
    const { Uploads = [] } = await this.#client.send(new ListMultipartUploadsCommand({ Bucket: this.name }));
    return Uploads.map(({ Key = '' }) => Key);
  }

  /** The content of an object, which may be compressed. */
  async read(key: string): Promise<Buffer> {
    const { Body, ContentEncoding } = await this.#client.send(
      new GetObjectCommand({ Bucket: this.name, Key: key }),
    );
    const object = Buffer.from((await Body?.transformToByteArray()) ?? []);
    return ContentEncoding === 'gzip' ? gunzipSync(object) : object;
  }

  async write(key: string, content: Buffer): Promise<void> {
    await this.#client.send(new PutObjectCommand({ Bucket: this.name, Key: key, Body: content }));
  }

  async remove(key: string): Promise<void> {
    await this.#client.send(new DeleteObjectCommand({ Bucket: this.name, Key: key }));
  }

  /** Writes many objects, a few at a time, so that a generator's objects are never all in memory. */
  async fill(objects: Iterable<readonly [key: string, content: Buffer]>): Promise<void> {
    await sideBySide(objects, ([key, content]) => this.write(key, content));
  }

  /** Reads many objects, a few at a time, and calls `use` with the value and the content of each key. */
  async readEach<T>(keys: ReadonlyMap<string, T>, use: (value: T, content: Buffer) => void): Promise<void> {
    await sideBySide(keys, async ([key, value]) => use(value, await this.read(key)));
  }

  close(): void {
    this.#client.destroy();
  }
}

async function sideBySide<T>(items: Iterable<T>, act: (item: T) => Promise<void>): Promise<void> {
  const remaining = items[Symbol.iterator]();
  const lane = async (): Promise<void> => {
    for (let next = remaining.next(); next.done !== true; next = remaining.next()) await act(next.value);
  };
  await Promise.all(Array.from({ length: 8 }, lane));
}
