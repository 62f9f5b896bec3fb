import { type AttemptEnd, jobAttemptEvents, jobFields } from '@pasteflow/service-kit';
import type { JobState, MessageContext } from '@pasteflow/domain';
import type { ClaimedJob } from '@pasteflow/postgres';
import type { LogFields, Logger, Metrics } from '@pasteflow/runtime';
import { createExecutionEvents, requestIdOf, type ExecutionEvents } from '../executions/events.ts';

export interface JobEvents extends ExecutionEvents {
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
    ...createExecutionEvents('job', logger, metrics),
    attemptStarted(job, context) {
      attempts.started(job, requestIdOf(context));
    },
    attemptEnded(job, context, end) {
      attempts.ended(job, end, requestIdOf(context));
      duration.observe({ job_type: job.jobType, outcome: end.outcome.kind }, end.seconds);
    },
    attemptCancelled(job, context) {
      cancelled.inc({ job_type: job.jobType });
      logger.info('job cancelled; attempt dropped', idsOf(job, context));
    },
    progressIgnored(job, context) {
      ignored.inc({ job_type: job.jobType });
      logger.warn('progress ignored; attempt already ended', idsOf(job, context));
    },
    attemptAbandoned(job, context) {
      abandoned.inc({ job_type: job.jobType });
      logger.error('job ignored its abort signal; abandoned', idsOf(job, context));
    },
  };
}

/** The fields on each log line about an attempt, the lines of the job's own work included. */
export function idsOf(job: ClaimedJob, context: MessageContext): LogFields {
  return { ...jobFields(job), ...requestIdOf(context) };
}
