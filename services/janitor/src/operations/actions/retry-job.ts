import { isUuid, JobNotRetryableError } from '@pasteflow/domain';
import { findJob, findRetryRefusal, retryJob as retry } from '@pasteflow/postgres';
import { Refused, type Action } from './action.ts';
import { job } from './subjects.ts';

/** The subject is the id of a job that is failed or partial (ADR 22). */
export const retryJob: Action = {
  name: 'retry-job',
  title: 'Retry the job',
  command: { name: 'retry', subjects: [job], help: 'retries a job by its id', reason: 'optional' },
  check: async ({ db }, id) => {
    if (!isUuid(id) || (await findJob(db, id)) === null) return null;
    const why = await findRetryRefusal(db, id);
    return why === null
      ? { count: 1, sentence: 'This retries 1 job, as a new job of its owner.' }
      : { count: 0, sentence: new JobNotRetryableError(why).message };
  },
  do: async ({ db }, id) => {
    const retried = await retry(db, id, null);
    switch (retried.kind) {
      case 'created':
        return {
          outcome: `Retried job ${id} as job ${retried.job.id}.`,
          json: { retried: id, job_id: retried.job.id },
        };
      case 'refused':
        throw new Refused(new JobNotRetryableError(retried.why).message);
      case 'not_found':
      case 'too_many_open': // not without a limit
        throw new Refused(`there is no job ${id}`);
      default:
        return retried satisfies never;
    }
  },
};
