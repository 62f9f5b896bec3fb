import type { ClaimedJob, SettledJob } from '@pasteflow/postgres';
import type { Logger, Metrics } from '@pasteflow/runtime';
import type { Settlement } from './work.ts';

/** What the janitor does to jobs in their workers' stead (J9), each with its log line and its metric in one place. */
export interface JobEvents {
  /** An execution was claimed, to be ended: it is RUNNING, and at a job's first one the job is `processing` now. */
  attemptStarted(job: ClaimedJob): void;
  /** An attempt was ended as failed; when it was the last one, the job has come to its end. */
  attemptEnded(job: SettledJob, outcome: Settlement['outcome']): void;
}

export function createJobEvents(logger: Logger, metrics: Metrics): JobEvents {
  const started = metrics.counter({
    name: 'job_attempts_started_total',
    help: 'Attempts at a job that were begun here, to be ended.',
    labels: [],
  });
  const attempts = metrics.counter({
    name: 'job_attempts_total',
    help: "Attempts at a job that were ended in a dead worker's stead.",
    labels: ['outcome'],
  });
  const jobs = metrics.counter({
    name: 'jobs_ended_total',
    help: 'Jobs that came to their end here, by the state they ended in.',
    labels: ['status'],
  });
  return {
    attemptStarted({ jobId, jobType, executionId, attempt }) {
      started.inc({});
      const ids = { job_id: jobId, job_type: jobType, execution_id: executionId, attempt };
      logger.info('job attempt started', { ...ids, status: 'processing' });
    },
    attemptEnded({ jobId, executionId, successorId, status }, { kind, error }) {
      attempts.inc({ outcome: kind });
      const ids = { job_id: jobId, execution_id: executionId };
      logger.warn('job attempt failed', { ...ids, outcome: kind, reason: error });
      if (successorId !== null) return;
      jobs.inc({ status });
      logger.warn('job ended', { ...ids, status });
    },
  };
}
