/** The message in the upload queue. It announces that an upload is due; the state is in Postgres. */
export interface UploadMessage {
  readonly shortCode: string;
  /** The content as base64 when it has at most INLINE_CONTENT_BYTES. Absent: the worker reads the payload. */
  readonly contentBytes?: string;
}

/** The message in the job queue. It announces that an attempt at this job is due. */
export interface JobMessage {
  readonly jobId: string;
}

/** The SQS message attributes: the request that caused the message, and its trace. */
export interface MessageContext {
  readonly requestId?: string;
  readonly traceparent?: string;
}
