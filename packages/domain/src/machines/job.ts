import { defineMachine, type StateOf } from '../machine.ts';

export const job = defineMachine({
  name: 'job',
  storedIn: {
    table: 'jobs',
    column: 'status',
    subjectColumn: 'id',
    reasonColumn: 'error_message',
    watchedColumns: ['progress', 'progress_message'],
  },
  initial: 'queued',
  states: {
    queued: {
      meaning: 'Accepted; no worker has claimed it yet. The upload-worker moves it on.',
      to: ['processing'],
    },
    processing: {
      meaning:
        'An execution of it runs. Its worker moves it on, or the reaper when the last attempt was lost.',
      to: ['completed', 'partial', 'failed'],
    },
    completed: { meaning: 'All of the work was done.', to: [] },
    partial: {
      meaning: 'Some of the work was done and some failed; result and error_message say which.',
      to: [],
    },
    failed: { meaning: 'None of the work was done; error_message says why.', to: [] },
  },
});

export type JobState = StateOf<typeof job>;
