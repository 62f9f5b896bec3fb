import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  paginateListObjectsV2,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
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
    return contentOf(Buffer.from((await Body?.transformToByteArray()) ?? []), ContentEncoding);
  }

  async write(key: string, content: Buffer): Promise<void> {
    await this.#client.send(new PutObjectCommand({ Bucket: this.name, Key: key, Body: content }));
  }

  async remove(key: string): Promise<void> {
    await this.#client.send(new DeleteObjectCommand({ Bucket: this.name, Key: key }));
  }

  /** Writes many objects, a few at a time, so that a generator's objects are never all in memory. */
  async fill(objects: Iterable<readonly [key: string, content: Buffer]>): Promise<void> {
    await this.#sideBySide(objects, async (agent, [key, content]) => {
      const put = new PutObjectCommand({ Bucket: this.name, Key: key });
      await send('PUT', await getSignedUrl(this.#client, put), agent, content);
    });
  }

  /** Reads many objects, a few at a time, and calls `use` with the value and the content of each key. */
  async readEach<T>(keys: ReadonlyMap<string, T>, use: (value: T, content: Buffer) => void): Promise<void> {
    await this.#sideBySide(keys, async (agent, [key, value]) => {
      const get = new GetObjectCommand({ Bucket: this.name, Key: key });
      use(value, await send('GET', await getSignedUrl(this.#client, get), agent));
    });
  }

  close(): void {
    this.#client.destroy();
  }

  async #sideBySide<T>(items: Iterable<T>, act: (agent: Agent, item: T) => Promise<void>): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: LANES });
    const remaining = items[Symbol.iterator]();
    const lane = async (): Promise<void> => {
      for (let next = remaining.next(); next.done !== true; next = remaining.next())
        await act(agent, next.value);
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    agent.destroy();
  }
}

function contentOf(object: Buffer, encoding: string | undefined): Buffer {
  return encoding === 'gzip' ? gunzipSync(object) : object;
}

const LANES = 8;

/** Sends a presigned request, which takes less than half the time of one of the SDK. */
function send(method: 'GET' | 'PUT', url: string, agent: Agent, content?: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const headers = content === undefined ? {} : { 'content-length': content.length };
    request(url, { method, agent, headers }, (response) => {
      buffer(response).then((body) => {
        if (response.statusCode === 200) resolve(contentOf(body, response.headers['content-encoding']));
        else reject(new Error(`${method} ${url} answered ${response.statusCode}: ${body.toString()}`));
      }, reject);
    })
      .once('error', reject)
      .end(content);
  });
}
