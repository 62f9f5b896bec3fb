import type { JobState, MessageContext, PasteUploadState, WebhookDeliveryState } from '@pasteflow/domain';
import type {
  ClaimedDelivery,
  ClaimedJob,
  ClaimedUpload,
  ExecutionKind,
  UploadOutcome,
} from '@pasteflow/postgres';
import { traceIdOf, type LogFields, type Logger, type Metrics } from '@pasteflow/runtime';
import {
  deliveryAttemptEvents,
  deliveryFields,
  jobAttemptEvents,
  jobFields,
  uploadAttemptEvents,
  uploadFields,
  type AttemptEnd,
} from '@pasteflow/service-kit';

/**
 * The events of executions of each kind. Each event writes its log line and its metric in one place. Ids
 * are written to the log only.
 */
interface ExecutionEvents {
  /** The outcome of an attempt did not count because another process had ended the execution. */
  settlementLost(ids: LogFields): void;
  leaseLost(ids: LogFields): void;
  dependencyFailed(what: string, error: unknown): void;
}

/** Of executions that a message asks for. */
export interface QueuedEvents extends ExecutionEvents {
  malformedMessage(error: unknown, messageId: string | undefined): void;
}

function createExecutionEvents(kind: ExecutionKind, logger: Logger, metrics: Metrics): ExecutionEvents {
  const lost = metrics.counter({
    name: `${kind}_settlements_lost_total`,
    help: 'Outcomes that did not count because another process had ended the execution.',
  });
  const leases = metrics.counter({
    name: `${kind}_leases_lost_total`,
    help: 'Executions whose lease was lost while this worker ran them.',
  });

  return {
    settlementLost(ids) {
      lost.inc();
      logger.warn(`${kind} already settled by another process; outcome ignored`, ids);
    },
    leaseLost(ids) {
      leases.inc();
      logger.warn('lease lost; attempt dropped', ids);
    },
    dependencyFailed(what, error) {
      dependencyFailed(logger, what, error);
    },
  };
}

function createQueuedEvents(kind: 'upload' | 'job', logger: Logger, metrics: Metrics): QueuedEvents {
  const malformed = metrics.counter({
    name: `${kind}_malformed_messages_total`,
    help: 'Malformed messages, which were moved to the dead-letter queue.',
  });
  return {
    ...createExecutionEvents(kind, logger, metrics),
    malformedMessage(error, messageId) {
      malformed.inc();
      logger.error('malformed message; moving to the dead-letter queue', {
        message_id: messageId,
        error,
      });
    },
  };
}

export function dependencyFailed(logger: Logger, what: string, error: unknown): void {
  logger.warn(`${what} failed; will retry`, { error });
}

/** The request that caused an attempt, and its trace, as log fields. */
function requestIdOf({ requestId, traceparent }: MessageContext): LogFields {
  return { ...(requestId !== undefined && { request_id: requestId }), ...traceIdOf(traceparent) };
}

export interface UploadEvents extends QueuedEvents {
  attemptStarted(upload: ClaimedUpload, context: MessageContext): void;
  attemptEnded(upload: ClaimedUpload, context: MessageContext, end: UploadAttemptEnd): void;
}

interface UploadAttemptEnd extends AttemptEnd<PasteUploadState> {
  readonly outcome: UploadOutcome;
}

export function createUploadEvents(logger: Logger, metrics: Metrics): UploadEvents {
  const attempts = uploadAttemptEvents(logger, metrics);
  const bytes = metrics.counter({ name: 'upload_bytes_total', help: 'Bytes of content stored in S3.' });
  const storedBytes = metrics.counter({
    name: 'upload_stored_bytes_total',
    help: 'Bytes of the objects in which content was stored, compressed where it pays.',
  });

  return {
    ...createQueuedEvents('upload', logger, metrics),
    attemptStarted(upload, context) {
      attempts.started(upload, requestIdOf(context));
    },
    attemptEnded(upload, context, end) {
      attempts.ended(upload, end, requestIdOf(context));
      if (end.outcome.kind !== 'succeeded') return;
      bytes.inc(upload.sizeBytes);
      storedBytes.inc(end.outcome.storedBytes ?? upload.sizeBytes);
    },
  };
}

/** The fields on each log line about an attempt. */
export function uploadIds(upload: ClaimedUpload, context: MessageContext): LogFields {
  return { ...uploadFields(upload), ...requestIdOf(context) };
}

export interface JobEvents extends QueuedEvents {
  /** The execution is RUNNING. With the first execution of a job, the job has become `processing`. */
  attemptStarted(job: ClaimedJob, context: MessageContext): void;
  attemptEnded(job: ClaimedJob, context: MessageContext, end: TimedAttemptEnd): void;
  /** The job was cancelled while this attempt ran. Nobody has failed. */
  attemptCancelled(job: ClaimedJob, context: MessageContext): void;
  /** The job was no longer processing, or this execution was over. */
  progressIgnored(job: ClaimedJob, context: MessageContext): void;
  /**
   * The work ignored its abort signal. The database refuses what it still writes, but it uses memory and
   * connections.
   */
  attemptAbandoned(job: ClaimedJob, context: MessageContext): void;
}

type TimedAttemptEnd = AttemptEnd<JobState> & { readonly seconds: number };

/** Seconds: from an import of one paste to an export of very many. */
const ATTEMPT_BUCKETS_SECONDS = [0.05, 0.25, 1, 5, 15, 60, 300, 1800, 7200];

export function createJobEvents(logger: Logger, metrics: Metrics): JobEvents {
  const attempts = jobAttemptEvents(logger, metrics);
  const duration = metrics.histogram({
    name: 'job_attempt_seconds',
    help: 'Duration of attempts at jobs.',
    labels: ['job_type', 'outcome'],
    buckets: ATTEMPT_BUCKETS_SECONDS,
  });
  const ignored = metrics.counter({
    name: 'job_progress_ignored_total',
    help: 'Attempts that reported progress after their end.',
    labels: ['job_type'],
  });
  const cancelled = metrics.counter({
    name: 'job_attempts_cancelled_total',
    help: 'Attempts that this worker dropped because their job was cancelled.',
    labels: ['job_type'],
  });
  const abandoned = metrics.counter({
    name: 'job_attempts_abandoned_total',
    help: 'Attempts that were abandoned because their work ignored its abort signal.',
    labels: ['job_type'],
  });

  return {
    ...createQueuedEvents('job', logger, metrics),
    attemptStarted(job, context) {
      attempts.started(job, requestIdOf(context));
    },
    attemptEnded(job, context, end) {
      attempts.ended(job, end, requestIdOf(context));
      duration.observe({ job_type: job.jobType, outcome: end.outcome.kind }, end.seconds);
    },
    attemptCancelled(job, context) {
      cancelled.inc({ job_type: job.jobType });
      logger.info('job cancelled; attempt dropped', jobIds(job, context));
    },
    progressIgnored(job, context) {
      ignored.inc({ job_type: job.jobType });
      logger.warn('progress ignored; attempt already ended', jobIds(job, context));
    },
    attemptAbandoned(job, context) {
      abandoned.inc({ job_type: job.jobType });
      logger.error('job ignored its abort signal; abandoned', jobIds(job, context));
    },
  };
}

/** The fields on each log line about an attempt, the lines of the job's own work included. */
export function jobIds(job: ClaimedJob, context: MessageContext): LogFields {
  return { ...jobFields(job), ...requestIdOf(context) };
}

export interface DeliveryEvents extends ExecutionEvents {
  attemptStarted(delivery: ClaimedDelivery): void;
  attemptEnded(
    delivery: ClaimedDelivery,
    end: AttemptEnd<WebhookDeliveryState> & { readonly seconds: number },
  ): void;
}

export function createDeliveryEvents(logger: Logger, metrics: Metrics): DeliveryEvents {
  const attempts = deliveryAttemptEvents(logger, metrics);
  return {
    ...createExecutionEvents('webhook', logger, metrics),
    attemptStarted: (delivery) => attempts.started(delivery),
    attemptEnded: (delivery, end) => attempts.ended(delivery, end),
  };
}

/** The fields on each log line about an attempt: never the URL, which is a secret of its owner. */
export function deliveryIds(delivery: ClaimedDelivery): LogFields {
  return deliveryFields(delivery);
}
