import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { contentEncodingOf } from '@pasteflow/domain';
import { DirectOrSdk, SignedRequests } from '@pasteflow/signed-requests';
import { getEndpointFromInstructions } from '@smithy/core/endpoints';
import { CONNECT_TIMEOUT_MS, MAX_SOCKETS, type S3ClientOptions } from './client.ts';
import { answerError, isRefused } from './errors.ts';
import {
  CONTENT_TYPE,
  SdkRequests,
  rangeHeader,
  type GetOptions,
  type ObjectRequests,
  type PutRequest,
  type StoredObject,
} from './object-requests.ts';

/** The digest of no bytes: the body of a GET. */
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Puts and gets without the SDK's middleware. */
export class DirectRequests implements ObjectRequests {
  readonly #address: BucketAddress;
  readonly #requests: SignedRequests;

  constructor(
    client: S3Client,
    address: BucketAddress,
    { maxSockets = MAX_SOCKETS, requestTimeoutMs }: Pick<S3ClientOptions, 'maxSockets' | 'requestTimeoutMs'>,
  ) {
    this.#address = address;
    this.#requests = new SignedRequests({
      client,
      service: 's3',
      url: address.url,
      region: address.signingRegion,
      maxSockets,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      requestTimeoutMs,
      bodyTimeoutMs: 0, // bodies are read as slowly as their readers like
      errorOf: answerError,
    });
  }

  async put(
    key: string,
    content: Buffer,
    { sha256, md5, contentType = CONTENT_TYPE, encoding, signal }: PutRequest,
  ): Promise<string | undefined> {
    const headers = {
      'content-length': String(content.length),
      'content-type': contentType,
      ...(encoding && { 'content-encoding': encoding }),
      'content-md5': md5.toString('base64'),
    };
    const path = objectPath(this.#address, key);
    const answer = await this.#requests.send({
      method: 'PUT',
      path,
      headers,
      sha256: sha256.toString('hex'),
      body: content,
      signal,
    });
    return answer.headers.etag?.toString();
  }

  async get(key: string, { range, signal }: GetOptions): Promise<StoredObject> {
    const headers = range === undefined ? {} : { range: rangeHeader(range) };
    const path = objectPath(this.#address, key);
    const answer = await this.#requests.sendForBody({
      method: 'GET',
      path,
      headers,
      sha256: EMPTY_SHA256,
      body: null,
      signal,
    });
    const length = answer.headers['content-length'];
    return {
      body: answer.body,
      contentLength: length === undefined ? null : Number(length),
      encoding: contentEncodingOf(answer.headers['content-encoding']?.toString()),
      isPart: answer.headers['content-range'] !== undefined,
    };
  }

  close(): void {
    this.#requests.close();
  }
}

/** Direct requests where the bucket and its server take them, and else those of the SDK. */
export class DirectIfPossible implements ObjectRequests {
  readonly #requests: DirectOrSdk<ObjectRequests>;
  #direct: DirectRequests | undefined;

  constructor(client: S3Client, bucket: string, options: S3ClientOptions) {
    this.#requests = new DirectOrSdk<ObjectRequests>({
      sdk: new SdkRequests(client, bucket),
      direct: async () => {
        const address = await bucketAddress(client, bucket);
        // Another first request may have chosen meanwhile.
        if (address !== null) this.#direct ??= new DirectRequests(client, address, options);
        return this.#direct ?? null;
      },
      isRefused,
      onRefused: options.onDirectRefused,
    });
  }

  async put(key: string, content: Buffer, request: PutRequest): Promise<string | undefined> {
    return await this.#requests.send('put', (requests) => requests.put(key, content, request));
  }

  async get(key: string, options: GetOptions): Promise<StoredObject> {
    return await this.#requests.send('get', (requests) => requests.get(key, options));
  }

  /**
   * Ends the connections of direct requests, also of those whose bodies are still read after a change to the
   * SDK.
   */
  close(): void {
    this.#direct?.close();
  }
}

/** Where the objects of a bucket are. */
export interface BucketAddress {
  readonly url: URL;
  /** What the path of each object begins with: empty, or the bucket when the host does not name it. */
  readonly basePath: string;
  readonly signingRegion: string;
}

/**
 * Resolved by the SDK's own rules: a custom endpoint, virtual hosts or paths, FIPS and dual-stack endpoints,
 * access points.
 * @returns null when requests to this bucket need another signature than SigV4, as directory buckets do
 */
export async function bucketAddress(client: S3Client, bucket: string): Promise<BucketAddress | null> {
  // The key has no influence, but the rules require one.
  const input = { Bucket: bucket, Key: 'any' };
  const { url, properties } = await getEndpointFromInstructions(
    input,
    PutObjectCommand,
    client.config as Parameters<typeof getEndpointFromInstructions>[2],
  );
  const [scheme] = (properties?.authSchemes ?? []) as { name: string; signingRegion?: string }[];
  if (scheme?.name !== 'sigv4') return null;
  return {
    url,
    basePath: url.pathname.replace(/\/$/, ''),
    signingRegion: scheme.signingRegion ?? (await client.config.region()),
  };
}

/** The path of an object: each part of the key is encoded as RFC 3986 says, as the signature requires. */
export function objectPath({ basePath }: Pick<BucketAddress, 'basePath'>, key: string): string {
  return `${basePath}/${key.split('/').map(encodePart).join('/')}`;
}

function encodePart(part: string): string {
  return encodeURIComponent(part).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
