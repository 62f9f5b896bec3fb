import type { JobsTable } from './jobs.ts';
import type { PastePayloadsTable } from './paste-payloads.ts';
import type { PastesTable } from './pastes.ts';
import type { StateTransitionsTable } from './state-transitions.ts';
import type { TaskExecutionsTable } from './task-executions.ts';
import type { UsersTable } from './users.ts';

export interface Schema {
  users: UsersTable;
  pastes: PastesTable;
  paste_payloads: PastePayloadsTable;
  jobs: JobsTable;
  task_executions: TaskExecutionsTable;
  state_transitions: StateTransitionsTable;
}
