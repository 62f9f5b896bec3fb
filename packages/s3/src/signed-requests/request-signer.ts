import type { S3Client } from '@aws-sdk/client-s3';
import { SignatureV4 } from '@smithy/signature-v4';
import { Sha256 } from './sha256.ts';

export interface UnsignedRequest {
  readonly method: 'GET' | 'PUT';
  readonly url: URL;
  /** Encoded, as it is sent. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** With `host` and `x-amz-content-sha256`. All of them are signed. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Signs requests by AWS Signature Version 4. The credentials are those of the SDK's client, which refreshes them. */
export class RequestSigner {
  readonly #config: S3Client['config'];
  readonly #signature: SignatureV4;

  constructor(config: S3Client['config'], region: string) {
    this.#config = config;
    this.#signature = new SignatureV4({
      service: 's3',
      region,
      credentials: config.credentials,
      sha256: Sha256,
      uriEscapePath: false, // S3 signs paths as they are sent
      applyChecksum: false, // the header is there already
    });
  }

  /** @returns all headers of the request */
  async sign({ method, url, path, query = {}, headers }: UnsignedRequest, now = Date.now()) {
    const signed = await this.#signature.sign(
      { method, protocol: url.protocol, hostname: url.hostname, path, query, headers: { ...headers } },
      { signingDate: new Date(now + this.#config.systemClockOffset) },
    );
    return signed.headers;
  }
}
