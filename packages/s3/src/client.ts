import { S3Client } from '@aws-sdk/client-s3';
import { rereadCredentials } from '@pasteflow/domain';

export interface S3ClientOptions {
  readonly region: string;
  /**
   * The endpoint of an S3 that is not AWS's, e.g. of the embedded emulator. Buckets are then addressed by
   * path.
   */
  readonly endpoint?: string | undefined;
  /** Attempts per request, the first included. 1 for uploads: their 6 attempts would otherwise be 18 puts. */
  readonly maxAttempts: number;
  readonly requestTimeoutMs: number;
  readonly maxSockets?: number;
  /** Called once, when S3 has refused a direct request, and has granted the same request of the SDK. */
  readonly onDirectRefused?: ((error: unknown) => void) | undefined;
}

export const MAX_SOCKETS = 50;
export const CONNECT_TIMEOUT_MS = 2000;

/**
 * `requestTimeout` alone only logs a warning. `throwOnRequestTimeout` makes it end the request. Without
 * `expectContinueHeader: false`, bodies of 2 MiB and more would wait for a 100 Continue, each on a connection
 * of its own.
 */
export function createS3Client(options: S3ClientOptions): S3Client {
  const client: S3Client = new S3Client({
    credentials: rereadCredentials(async () => {
      // A new one has no memory of what it has read.
      const { config } = client;
      // oxlint-disable-next-line typescript/no-deprecated -- the chain of the SDK, without a dependency on its package
      return await config.credentialDefaultProvider({ ignoreCache: true, parentClientConfig: config })();
    }, Date.now),
    region: options.region,
    ...(options.endpoint !== undefined && { endpoint: options.endpoint, forcePathStyle: true }),
    maxAttempts: options.maxAttempts,
    expectContinueHeader: false,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: options.requestTimeoutMs,
      throwOnRequestTimeout: true,
      httpAgent: { maxSockets: options.maxSockets ?? MAX_SOCKETS, keepAlive: true },
      httpsAgent: { maxSockets: options.maxSockets ?? MAX_SOCKETS, keepAlive: true },
    },
  });
  return client;
}
