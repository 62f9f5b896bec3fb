/** What the proxy saw of one request; filled in as it goes on. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly path: string;
  /** The `x-amz-target` header, for SQS: `AmazonSQS.SendMessageBatch`. */
  readonly target: string | undefined;
  /** performance.now() when the headers had arrived. */
  readonly at: number;
  bodyBytes: number;
  /** Kept up to 1 MiB, the largest SQS request; undefined above that and while the body is still coming in. */
  body: Buffer | undefined;
  /** Undefined while there is no answer, and when there never was one. */
  status: number | undefined;
  /** The client went away before it had its answer. */
  aborted: boolean;
}
