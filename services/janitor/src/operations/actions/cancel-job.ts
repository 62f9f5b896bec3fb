import { isUuid } from '@pasteflow/domain';
import { cancelJob as cancel, findJob, type Database } from '@pasteflow/postgres';
import { counted } from '../reports/counted.ts';
import { Refused, type Action } from './action.ts';

/** The subject is the id of a job that waits or runs (ADR 43). */
export function cancelJob(db: Database): Action {
  return {
    title: 'Cancel the job',
    isReasonForOwner: true,
    check: async (id) => {
      const job = isUuid(id) ? await findJob(db, id) : null;
      if (job === null) return null;
      const count = job.completed_at === null ? 1 : 0;
      return { count, sentence: `This cancels ${counted(count, 'job')}. Its owner reads the reason.` };
    },
    do: async (id, { actor, reason }) => {
      const by = reason === null ? 'an operator' : `an operator: ${reason}`;
      const from = await cancel(db, { jobId: id, actor, by });
      const job = await findJob(db, id);
      if (job === null) throw new Refused(`there is no job ${id}`);
      const { status } = job;
      if (from === null)
        throw new Refused(`job ${id} is ${status} and has no open execution, so there is nothing to cancel`);
      const outcome = `Cancelled job ${id}, which was ${from} and is now ${status}.`;
      return { outcome, json: { job_id: id, from, status } };
    },
  };
}
