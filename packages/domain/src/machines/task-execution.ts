import { defineMachine, type StateOf } from '../machine.ts';

export const taskExecution = defineMachine({
  name: 'task_execution',
  storedIn: {
    table: 'task_executions',
    column: 'status',
    identityColumns: ['id', 'kind', 'subject_id'],
    reasonColumn: 'error',
  },
  initial: 'PENDING',
  states: {
    PENDING: {
      meaning: 'Due at run_at, and not claimed. An upload-worker claims the execution.',
      to: ['RUNNING'],
    },
    RUNNING: {
      meaning:
        'A worker holds the execution under a lease. That worker ends the execution; the reaper does once the lease has expired.',
      to: ['SUCCEEDED', 'FAILED'],
      since: 'started_at',
    },
    SUCCEEDED: { meaning: 'The attempt succeeded.', to: [] },
    FAILED: {
      meaning:
        'The attempt failed; error says why. The next execution is PENDING unless this was the last attempt.',
      to: [],
    },
  },
});

export type TaskExecutionState = StateOf<typeof taskExecution>;
