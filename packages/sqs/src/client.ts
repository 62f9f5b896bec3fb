import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';
import { rereadCredentials } from '@pasteflow/domain';
import { DirectSqsClient, type DirectOptions } from './direct-client.ts';

/** The SDK's client under a name of this package, so that its users need no dependency on the SDK. */
export type SqsClient = SQSClient;

/** The line of the log for `onDirectRefused`. */
export const DIRECT_REFUSED =
  'SQS refuses direct requests and grants those of the SDK: S3_REQUESTS=sdk for SQS from now on';

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
  requests = 'sdk',
  onDirectRefused,
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
  /**
   * How messages are sent, received and deleted. `direct`: signed and sent without the middleware of the AWS SDK,
   * which takes more than half of their CPU time. Default: `sdk`.
   */
  readonly requests?: 'direct' | 'sdk';
} & Pick<DirectOptions, 'onDirectRefused'>): SQSClient {
  const config: SQSClientConfig = {
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
  };
  const options = { maxSockets, connectTimeoutMs: CONNECT_TIMEOUT_MS, requestTimeoutMs, onDirectRefused };
  const client: SQSClient =
    requests === 'direct' ? new DirectSqsClient(config, options) : new SQSClient(config);
  return client;
}
