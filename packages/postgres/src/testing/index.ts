export {
  breakWaitingConnections,
  countSlowUpdates,
  lockRow,
  refuseRow,
  refuseUpdates,
  slowUpdates,
} from './trouble.ts';
export type { ExecutionShape } from './made-executions.ts';
export { importRows } from './import-rows.ts';
export { makeJobs, type JobShape, type MadeJob } from './make-jobs.ts';
export { makePastes, type MadePaste, type PasteShape } from './make-pastes.ts';
export { makeUsers } from './make-users.ts';
export { pasteToCreate } from './paste-to-create.ts';
export { removeRows } from './remove-rows.ts';
export { rewriteTrail } from './rewrite-trail.ts';
export { stepClockBack } from './step-clock-back.ts';
