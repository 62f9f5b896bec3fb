export {
  breakWaitingConnections,
  countSlowUpdates,
  lockRow,
  refuseRow,
  refuseUpdates,
  slowUpdates,
} from './trouble.ts';
export type { ExecutionShape } from './made-executions.ts';
export { importRows, makeUsers, removeRows, rewriteTrail, stepClockBack, pasteToCreate } from './rows.ts';
export { makeDeliveries, type DeliveryShape } from './make-deliveries.ts';
export { makeJobs, type JobShape, type MadeJob } from './make-jobs.ts';
export { makePastes, type MadePaste, type PasteShape } from './make-pastes.ts';
