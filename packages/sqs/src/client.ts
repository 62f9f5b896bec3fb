import { SQSClient } from '@aws-sdk/client-sqs';

/** As its users know it: they need not depend on the SDK. */
export type SqsClient = SQSClient;

export interface SqsClientOptions {
  readonly region: string;
  /** Another SQS than AWS's, e.g. the embedded emulator. */
  readonly endpoint?: string | undefined;
  /** Connections at once. A long poll holds one: give receivers a client of their own. */
  readonly maxSockets?: number;
  /** How long a request may take, in ms; above the wait of a long poll. */
  readonly requestTimeoutMs?: number;
  /** Tries a request, the first included; 2 unless told. */
  readonly maxAttempts?: number;
}

/** `useQueueUrlAsEndpoint: false`: else the queue URL's host wins over `endpoint`, and a test could reach the real AWS. */
export function createSqsClient({
  region,
  endpoint,
  maxSockets = 50,
  requestTimeoutMs = 10_000,
  maxAttempts = 2,
}: SqsClientOptions): SQSClient {
  return new SQSClient({
    region,
    ...(endpoint !== undefined && { endpoint }),
    useQueueUrlAsEndpoint: false,
    maxAttempts,
    requestHandler: {
      connectionTimeout: 2000,
      requestTimeout: requestTimeoutMs,
      throwOnRequestTimeout: true,
      httpAgent: { maxSockets, keepAlive: true },
      httpsAgent: { maxSockets, keepAlive: true },
    },
  });
}
