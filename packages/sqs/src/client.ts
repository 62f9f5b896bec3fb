import { SQSClient } from '@aws-sdk/client-sqs';
import { rereadCredentials } from '@pasteflow/domain';

/** The SDK's client under a name of this package, so that its users need no dependency on the SDK. */
export type SqsClient = SQSClient;

const CONNECT_TIMEOUT_MS = 2000;

/**
 * `useQueueUrlAsEndpoint` is false because the host of a queue's URL would override an endpoint that only the
 * environment names.
 */
export function createSqsClient({
  region,
  endpoint,
  maxSockets = 50,
  requestTimeoutMs = 10_000,
  maxAttempts = 2,
}: {
  readonly region: string;
  /** The endpoint of an SQS that is not AWS's, e.g. of the embedded emulator. */
  readonly endpoint?: string | undefined;
  /**
   * Maximum number of connections (default: 50). A long poll holds one, so receivers need a client of their
   * own.
   */
  readonly maxSockets?: number;
  /** Timeout of a request in ms (default: 10 000). It must exceed the wait of a long poll. */
  readonly requestTimeoutMs?: number;
  /** Attempts per request, the first included (default: 2). */
  readonly maxAttempts?: number;
}): SQSClient {
  const client: SQSClient = new SQSClient({
    credentials: rereadCredentials(async () => {
      // A new one has no memory of what it has read.
      const { config } = client;
      // oxlint-disable-next-line typescript/no-deprecated -- the chain of the SDK, without a dependency on its package
      return await config.credentialDefaultProvider({ ignoreCache: true, parentClientConfig: config })();
    }, Date.now),
    region,
    ...(endpoint !== undefined && { endpoint }),
    useQueueUrlAsEndpoint: false,
    maxAttempts,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: requestTimeoutMs, // until the answer begins
      socketTimeout: requestTimeoutMs, // between two pieces of the answer
      throwOnRequestTimeout: true,
      httpAgent: { maxSockets, keepAlive: true },
      httpsAgent: { maxSockets, keepAlive: true },
    },
  });
  return client;
}
