/** The message in the upload queue. It announces that an upload is due; the state is in Postgres. */
export interface UploadMessage {
  readonly shortCode: string;
  /** The content as base64 when it has at most INLINE_CONTENT_BYTES. Absent: the worker reads the payload. */
  readonly contentBytes?: string;
}

/**
 * How long the api may leave an upload without a stamp after SQS has accepted its message, in seconds. A worker claims nearly every upload
 * before that, also under load, and the claim stamps it. The relay waits for as long, in addition to its grace, before it sends the message
 * of an upload without a stamp.
 */
export const UPLOAD_STAMP_SECONDS = 3;

/** The message in the job queue. It announces that an attempt at this job is due. */
export interface JobMessage {
  readonly jobId: string;
}

/** The SQS message attributes: the request that caused the message, and its trace. */
export interface MessageContext {
  readonly requestId?: string;
  readonly traceparent?: string;
}
