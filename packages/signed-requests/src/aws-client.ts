import type { SignatureV4Init } from '@smithy/signature-v4';
import type { RetryStrategy, RetryStrategyV2 } from '@smithy/types';

/** What the requests take from a client of the SDK. */
export interface AwsClient {
  readonly config: Pick<SignatureV4Init, 'credentials'> & {
    /** How far the clock of this process is behind that of AWS, in ms. The SDK's own requests set it, too. */
    systemClockOffset: number;
    readonly retryStrategy: () => Promise<RetryStrategy | RetryStrategyV2>;
  };
}
