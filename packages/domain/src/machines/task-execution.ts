import { defineMachine, type StateOf } from '../machine.ts';

export const taskExecution = defineMachine({
  name: 'task_execution',
  storedIn: {
    table: 'task_executions',
    column: 'status',
    subjectColumn: 'subject_id',
    reasonColumn: 'error',
    watchedColumns: [],
  },
  initial: 'PENDING',
  states: {
    PENDING: {
      meaning: 'Due at run_at; no worker has claimed it. The upload-worker claims it.',
      to: ['RUNNING'],
    },
    RUNNING: {
      meaning:
        'A worker holds it under a lease. That worker ends it, or reap-executions once the lease has run out.',
      to: ['SUCCEEDED', 'FAILED'],
    },
    SUCCEEDED: { meaning: 'The attempt reached its goal.', to: [] },
    FAILED: {
      meaning: 'The attempt did not; error says why. A successor is PENDING unless it was the last.',
      to: [],
    },
  },
});

export type TaskExecutionState = StateOf<typeof taskExecution>;
