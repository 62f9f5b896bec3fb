/** R1: what travels in the upload queue. A nudge that work is due; Postgres is the truth. */
export interface UploadMessage {
  readonly shortCode: string;
  /** The content as base64, when it is no longer than INLINE_CONTENT_BYTES; else it is read from its payload. */
  readonly contentBytes?: string;
}

/** What travels in the job queue: a nudge that an attempt at this job is due. */
export interface JobMessage {
  readonly jobId: string;
}

/** What a message carries beside its body, as SQS message attributes: which request caused it. */
export interface MessageContext {
  readonly requestId?: string;
  readonly traceparent?: string;
}
