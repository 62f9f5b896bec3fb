import type { Machine } from '../machine.ts';

export type JobState = 'queued' | 'processing' | 'completed' | 'partial' | 'failed';

export const job = {
  name: 'job',
  storedIn: { table: 'jobs', column: 'status' },
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
} as const satisfies Machine<JobState>;
