import type { AttemptOutcome, NextStep, JobState, MessageContext } from '@pasteflow/domain';
import type { ClaimedJob } from '@pasteflow/postgres';
import type { LogFields, Logger, Metrics } from '@pasteflow/runtime';
import { createExecutionEvents, requestIdOf, type ExecutionEvents } from '../executions/events.ts';

export interface JobEvents extends ExecutionEvents {
  /** The execution is RUNNING; at a job's first one the job is `processing` now. */
  attemptStarted(job: ClaimedJob, context: MessageContext): void;
  /** `error` is what the work threw, where it threw. */
  attemptEnded(
    job: ClaimedJob,
    context: MessageContext,
    ended: {
      readonly outcome: AttemptOutcome;
      readonly nextStep: NextStep;
      readonly seconds: number;
      readonly error?: unknown;
    },
  ): void;
  jobEnded(job: ClaimedJob, context: MessageContext, status: JobState): void;
  /** J4: the job wasn't processing any more, or this execution of it was over. */
  progressIgnored(job: ClaimedJob, context: MessageContext): void;
  /** Its work went on although it was told to end: whatever it still writes is refused, but it takes up room. */
  attemptAbandoned(job: ClaimedJob, context: MessageContext): void;
}

/** Seconds: from an import of one paste to an export of very many. */
const ATTEMPT_BUCKETS_SECONDS = [0.05, 0.25, 1, 5, 15, 60, 300, 1800, 7200];

/** @param isKnown whether there is a type of this name: others don't become labels */
export function createJobEvents(
  logger: Logger,
  metrics: Metrics,
  isKnown: (jobType: string) => boolean,
): JobEvents {
  const attempts = metrics.counter({
    name: 'job_attempts_total',
    help: 'Attempts at a job by how they ended and what followed.',
    labels: ['job_type', 'outcome', 'sequel'],
  });
  const duration = metrics.histogram({
    name: 'job_attempt_seconds',
    help: 'How long attempts at a job took.',
    labels: ['job_type', 'outcome'],
    buckets: ATTEMPT_BUCKETS_SECONDS,
  });
  const started = metrics.counter({
    name: 'job_attempts_started_total',
    help: 'Attempts at a job that were begun.',
    labels: ['job_type'],
  });
  const jobs = metrics.counter({
    name: 'jobs_ended_total',
    help: 'Jobs that came to their end here, by the state they ended in.',
    labels: ['job_type', 'status'],
  });
  const ignored = metrics.counter({
    name: 'job_progress_ignored_total',
    help: 'Attempts whose progress was ignored because they were over.',
    labels: ['job_type'],
  });
  const abandoned = metrics.counter({
    name: 'job_attempts_left_behind_total',
    help: 'Attempts whose work went on although it was told to end.',
    labels: ['job_type'],
  });
  const typeOf = ({ jobType }: ClaimedJob): string => (isKnown(jobType) ? jobType : 'unknown');

  return {
    ...createExecutionEvents('job', logger, metrics),
    attemptStarted(job, context) {
      started.inc({ job_type: typeOf(job) });
      logger.info('job attempt started', { ...idsOf(job, context), status: 'processing' });
    },
    attemptEnded(job, context, { outcome, nextStep, seconds, error }) {
      attempts.inc({ job_type: typeOf(job), outcome: outcome.kind, sequel: nextStep.kind });
      duration.observe({ job_type: typeOf(job), outcome: outcome.kind }, seconds);
      const fields = { ...idsOf(job, context), outcome: outcome.kind, sequel: nextStep.kind, seconds };
      if (outcome.kind === 'succeeded' || outcome.kind === 'interrupted')
        logger.info('job attempt ended', fields);
      else logger.warn('job attempt failed', { ...fields, reason: outcome.error, error });
    },
    jobEnded(job, context, status) {
      jobs.inc({ job_type: typeOf(job), status });
      logger[status === 'completed' ? 'info' : 'warn']('job ended', { ...idsOf(job, context), status });
    },
    progressIgnored(job, context) {
      ignored.inc({ job_type: typeOf(job) });
      logger.warn('progress ignored: this attempt is over', idsOf(job, context));
    },
    attemptAbandoned(job, context) {
      abandoned.inc({ job_type: typeOf(job) });
      logger.error('a job goes on although it was told to end; it is left behind', idsOf(job, context));
    },
  };
}

/** On every line of the log that is about an attempt, those of the job's own work included. */
export function idsOf(job: ClaimedJob, context: MessageContext): LogFields {
  return {
    job_id: job.jobId,
    job_type: job.jobType,
    execution_id: job.executionId,
    attempt: job.attempt,
    ...requestIdOf(context),
  };
}
