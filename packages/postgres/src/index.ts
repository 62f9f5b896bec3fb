export { createDatabase, pingDatabase, type Database, type DatabaseOptions } from './database.ts';
export { toTypedError } from './errors.ts';
export { migrate } from './migrate.ts';
export { installStateMachines } from './enforcement/install.ts';
export { INVALID_TRANSITION_SQLSTATE } from './enforcement/machine-sql.ts';
export type { Actor } from './actor.ts';
export { createPaste, type CreatedPaste, type NewPaste } from './repositories/create-paste.ts';
export { expirePaste, findPaste, readPayload, type PasteRow } from './repositories/pastes.ts';
export { claimUploads, type ClaimedUpload, type UploadClaim } from './repositories/claim-uploads.ts';
export {
  settleUploads,
  type SettledUpload,
  type SettleOptions,
  type UploadOutcome,
  type UploadSettlement,
} from './repositories/settle-uploads.ts';
export { findZombies, renewLeases, type Zombie } from './repositories/leases.ts';
export { findOverdue, findUndispatched, stampDispatched, type DueUpload } from './repositories/dispatch.ts';
export {
  claimExpired,
  releaseClaims,
  resetStuckDeletions,
  settleDeleted,
  type ClaimedDeletion,
} from './repositories/deletion.ts';
export {
  dropOldTransitions,
  ensureTransitionPartitions,
  findOldFailed,
  removeFailed,
  removeStrayTransitions,
  removeTombstones,
  type OldFailed,
} from './repositories/retention.ts';
export { databaseTime, findLive, findStored } from './repositories/reconcile.ts';
export { readTimeline, type Timeline } from './repositories/timeline.ts';
export { withSweepLock } from './repositories/sweep-lock.ts';
export type { ExecutionKind } from './schema/task-executions.ts';
export type { Schema } from './schema/schema.ts';
