import type { S3Client } from '@aws-sdk/client-s3';
import type { S3ClientOptions } from '../client.ts';
import {
  SdkRequests,
  type GetOptions,
  type ObjectRequests,
  type PutRequest,
  type StoredObject,
} from '../object-requests.ts';
import { bucketAddress } from './bucket-address.ts';
import { DirectRequests } from './direct-requests.ts';

/** Direct requests, or those of the SDK when the bucket needs another signature. The first request finds out. */
export class DirectIfPossible implements ObjectRequests {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #options: S3ClientOptions;
  #requests: ObjectRequests | undefined;

  constructor(client: S3Client, bucket: string, options: S3ClientOptions) {
    this.#client = client;
    this.#bucket = bucket;
    this.#options = options;
  }

  async put(key: string, content: Buffer, request: PutRequest): Promise<string | undefined> {
    return await (this.#requests ?? (await this.#choose())).put(key, content, request);
  }

  async get(key: string, options: GetOptions): Promise<StoredObject> {
    return await (this.#requests ?? (await this.#choose())).get(key, options);
  }

  close(): void {
    this.#requests?.close();
  }

  async #choose(): Promise<ObjectRequests> {
    const address = await bucketAddress(this.#client, this.#bucket);
    // Another first request may have chosen meanwhile.
    this.#requests ??=
      address === null
        ? new SdkRequests(this.#client, this.#bucket)
        : new DirectRequests(this.#client, address, this.#options);
    return this.#requests;
  }
}
