import { S3Client } from '@aws-sdk/client-s3';

export interface S3ClientOptions {
  readonly region: string;
  /** Another S3 than AWS's, e.g. the embedded emulator; then buckets are addressed by path. */
  readonly endpoint?: string | undefined;
  /** Tries a request, the first included. 1 for uploads: the retries are ours (R3), and 6 of ours would be 18 puts. */
  readonly maxAttempts: number;
  readonly requestTimeoutMs: number;
  readonly maxSockets?: number;
}

/**
 * `requestTimeout` alone only logs: it takes `throwOnRequestTimeout` to end the request. Without `expectContinueHeader: false` bodies of
 * 2 MiB and more wait for a 100 Continue on a connection of their own.
 */
export function createS3Client(options: S3ClientOptions): S3Client {
  return new S3Client({
    region: options.region,
    ...(options.endpoint !== undefined && { endpoint: options.endpoint, forcePathStyle: true }),
    maxAttempts: options.maxAttempts,
    expectContinueHeader: false,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: 2000,
      requestTimeout: options.requestTimeoutMs,
      throwOnRequestTimeout: true,
      httpAgent: { maxSockets: options.maxSockets ?? 50, keepAlive: true },
      httpsAgent: { maxSockets: options.maxSockets ?? 50, keepAlive: true },
    },
  });
}
