import type { IncomingHttpHeaders } from 'node:http';

/** The proxy's record of one request, updated as the request proceeds. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The `x-amz-target` header, for SQS: `AmazonSQS.SendMessageBatch`. */
  readonly target: string | undefined;
  /** performance.now() when the headers had arrived. */
  readonly at: number;
  bodyBytes: number;
  /**
   * Kept up to 1 MiB, the maximum of an SQS request. Undefined above that, and until the body has arrived.
   */
  body: Buffer | undefined;
  /** Undefined until the response, and if there is none. */
  status: number | undefined;
  /** The client disconnected before it had the response. */
  aborted: boolean;
}
