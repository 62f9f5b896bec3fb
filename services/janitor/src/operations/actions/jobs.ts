import { isUuid, JobNotRetryableError } from '@pasteflow/domain';
import { cancelJob as cancel, findJob, findRetryRefusal, retryJob as retry } from '@pasteflow/postgres';
import { counted } from '../reports/counted.ts';
import { Refused, type Action } from './action.ts';
import { job } from './subjects.ts';

/** The subject is the id of a job that waits or runs (ADR 43). */
export const cancelJob: Action = {
  name: 'cancel-job',
  title: 'Cancel the job',
  command: {
    name: 'cancel',
    subjects: [job],
    help: 'ends a job that waits or runs; what it has made stays, and its owner reads the reason',
    reason: 'optional',
  },
  isReasonForOwner: true,
  check: async ({ db }, id) => {
    const found = isUuid(id) ? await findJob(db, id) : null;
    if (found === null) return null;
    const count = found.completed_at === null ? 1 : 0;
    return { count, sentence: `This cancels ${counted(count, 'job')}. Its owner reads the reason.` };
  },
  do: async ({ db }, id, { actor, reason }) => {
    const by = reason === null ? 'an operator' : `an operator: ${reason}`;
    // Together, because an erasure could remove the job in between.
    const { from, cancelled } = await db.transaction().execute(async (tx) => ({
      from: await cancel(tx, { jobId: id, actor, by }),
      cancelled: await findJob(tx, id),
    }));
    if (cancelled === null) throw new Refused(`there is no job ${id}`);
    const { status } = cancelled;
    if (from === null)
      throw new Refused(`job ${id} is ${status} and has no open execution, so there is nothing to cancel`);
    const outcome = `Cancelled job ${id}, which was ${from} and is now ${status}.`;
    return { outcome, json: { job_id: id, from, status } };
  },
};

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
