export { createDatabase, pingDatabase, poolUse, type Database, type DatabaseOptions } from './database.ts';
export { toTypedError } from './errors.ts';
export { migrate } from './migrate.ts';
export { installStateMachines } from './enforcement/install.ts';
export { INVALID_TRANSITION_SQLSTATE } from './enforcement/machine-sql.ts';
export type { Actor } from './actor.ts';
export { createPaste, type CreatedPaste, type NewPaste } from './repositories/create-paste.ts';
export { expirePaste, findPaste, readPayload, type PasteRow } from './repositories/pastes.ts';
export { claimUploads, type ClaimedUpload, type UploadClaim } from './executions/claim-uploads.ts';
export {
  settleUploads,
  type SettledUpload,
  type SettleOptions,
  type UploadOutcome,
  type UploadSettlement,
} from './executions/settle-uploads.ts';
export { createJob, type CreatedJob, type NewJob } from './repositories/create-job.ts';
export {
  findJob,
  findJobBrief,
  listAssets,
  listJobs,
  type AssetRow,
  type JobBrief,
  type JobFilter,
  type JobRow,
  type ListedJob,
} from './repositories/jobs.ts';
export { claimJobs, type ClaimedJob, type JobClaim } from './executions/claim-jobs.ts';
export {
  settleJobs,
  type JobSettlement,
  type JobSettlementEnding,
  type SettledJob,
} from './executions/settle-jobs.ts';
export { writeProgress, type JobProgress } from './repositories/job-progress.ts';
export { createAsset, type NewAsset } from './repositories/assets.ts';
export { removeAssets } from './repositories/remove-assets.ts';
export {
  importedPositions,
  importPastes,
  type ImportedPaste,
  type ImportEntry,
} from './repositories/import-pastes.ts';
export { listExportable, type ExportablePaste, type ExportFilter } from './repositories/exportable-pastes.ts';
export { countPastes } from './repositories/count-pastes.ts';
export { findOldJobs, removeJobs, type OldJob } from './repositories/old-jobs.ts';
export { findZombies, renewLeases, type Zombie } from './executions/leases.ts';
export {
  countWaitingJobs,
  findOverdue,
  findOverdueJobs,
  findUndispatched,
  findUndispatchedJobs,
  stampDispatched,
  type DueJob,
  type DueUpload,
} from './executions/dispatch.ts';
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
export {
  answerIdempotencyKey,
  claimIdempotencyKey,
  releaseIdempotencyKey,
  removeOldIdempotencyKeys,
  type ClaimedKey,
  type HeldKey,
  type IdempotencyKey,
  type KeyClaim,
} from './repositories/idempotency-keys.ts';
export {
  rateLimitStore,
  removeEndedRateLimits,
  type RateLimitStore,
} from './repositories/rate-limit-store.ts';
export {
  databaseTime,
  findLive,
  findOpenJobs,
  findStored,
  findStoredAssets,
  findStrayJobObjects,
  type JobObject,
} from './repositories/reconcile.ts';
export {
  createApiToken,
  isGoodApiToken,
  listApiTokens,
  revokeApiToken,
  useApiToken,
  type ApiToken,
  type ApiTokenUse,
  type CreatedApiToken,
  type NewApiToken,
} from './repositories/api-tokens.ts';
export { ensureUser } from './repositories/users.ts';
export { listPastes, type ListedPaste } from './repositories/list-pastes.ts';
export { readJobTimeline, readTimeline, type Timeline } from './repositories/timeline.ts';
export { ChangeListener, type ChangeListenerOptions, type Changes } from './live/change-listener.ts';
export { lookAt, type Seen, type SeenPaste, type SeenTransition, type Wanted } from './live/look.ts';
export { toPage, type Page, type PageRequest, type Place } from './repositories/place.ts';
export {
  measureTransitions,
  readTransitionStatistics,
  readUncountedSeconds,
  stateDurationBounds,
  type TransitionStatistic,
} from './repositories/measure-transitions.ts';
export {
  estimateLivePastes,
  readStateFigures,
  type KindFigures,
  type StateFigure,
  type StateFigures,
} from './repositories/state-figures.ts';
export {
  readSweepRuns,
  recordSweepRun,
  type EndedSweepRun,
  type SweepRun,
} from './repositories/sweep-runs.ts';
export { findStuck, type Stuck, type StuckOptions } from './repositories/stuck.ts';
export { withSweepLock } from './repositories/sweep-lock.ts';
export type { ExecutionKind } from './schema/task-executions.ts';
export type { Schema } from './schema/schema.ts';
