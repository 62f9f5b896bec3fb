import { defineMachine, type StateOf } from '../machine.ts';

export const job = defineMachine({
  name: 'job',
  storedIn: {
    table: 'jobs',
    column: 'status',
    identityColumns: ['id', 'user_id', 'job_type'],
    reasonColumn: 'error_message',
  },
  initial: 'queued',
  states: {
    queued: {
      meaning: 'Accepted, and not claimed yet. An upload-worker claims the job.',
      to: ['processing'],
    },
    processing: {
      meaning:
        'A worker runs the job, or the next attempt waits. The worker ends the job, also at the tenth stop without a new asset; the reaper ends the job at its sixth loss.',
      to: ['completed', 'partial', 'failed'],
    },
    completed: { meaning: 'All work was done.', to: [] },
    partial: {
      meaning: 'Some work was done and some failed; result and error_message say which.',
      to: [],
    },
    failed: { meaning: 'No work was done; error_message says why.', to: [] },
  },
});

export type JobState = StateOf<typeof job>;
