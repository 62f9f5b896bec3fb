import { apiRights } from './rights-of-api.ts';
import { janitorRights } from './rights-of-janitor.ts';
import { workerRights } from './rights-of-worker.ts';
import type { ServiceRole } from './role-names.ts';
import type { RoleRights } from './table-rights.ts';

/**
 * What each service may do, and nothing else. `npm run migrate` grants it. No service may insert or update a
 * column that says what a row is or in which state it starts, write the audit trail, or change the schema.
 */
export const rights: Readonly<Record<ServiceRole, RoleRights>> = {
  pasteflow_api: apiRights,
  pasteflow_worker: workerRights,
  pasteflow_janitor: janitorRights,
};

/** The tables of the migrator, which no service uses. */
export const untypedTables = ['kysely_migration', 'kysely_migration_lock'] as const;

/** The views, and who may read them. */
export const viewReaders: Readonly<Record<string, readonly ServiceRole[]>> = {
  zombie_executions: ['pasteflow_janitor'],
};

/** The functions that run with the rights of the owner, apart from triggers, and who may call them. */
export const functionCallers: Readonly<Record<string, readonly ServiceRole[]>> = {
  ensure_transition_partitions: ['pasteflow_janitor'],
  drop_old_transitions: ['pasteflow_janitor'],
  cancel_job: ['pasteflow_api', 'pasteflow_janitor'],
  reveal_paste: ['pasteflow_api'],
};
