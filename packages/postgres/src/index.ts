export { COLLATION_CHANGED, findChangedCollation } from './database/collation.ts';
export {
  createDatabase,
  cutStatements,
  pingDatabase,
  poolUse,
  type Database,
  type DatabaseOptions,
} from './database/database.ts';
export {
  cannotWrite,
  FORBIDDEN_CHANGE_SQLSTATE,
  INVALID_TRANSITION_SQLSTATE,
  isLockTimeout,
  isTimeout,
} from './database/errors.ts';
export { inHalves, inPortions, mayBeOfOneRow, type Portion, type Portioned } from './database/one-row.ts';
export { databaseUrlProblem } from './database/database-url.ts';
export {
  durabilitySettings,
  findSettingProblems,
  findUnsafeSettings,
  type DurabilitySetting,
} from './database/session-settings.ts';
export { migrate } from './migrate.ts';
export { installStateMachines } from './enforcement/install.ts';
export { findEnforcementGaps } from './enforcement/installed.ts';
export { findRightsGaps } from './roles/rights-gaps.ts';
export { findPrivilegedUser, PRIVILEGED_USER } from './roles/current-user.ts';
export type { Actor } from './database/actor.ts';
export { countRetryable, findRetryable, retryFailed, type Retryable } from './pastes/retry-failed.ts';
export {
  blockContent,
  findBlocked,
  listContentBlocks,
  unblockContent,
  type ContentBlock,
} from './pastes/content-blocks.ts';
export { countStanding, findStanding, takeDown } from './pastes/take-down.ts';
export {
  findReports,
  listReported,
  REPORTED_PLACE,
  reportPaste,
  type OpenReport,
  type ReportedFilter,
  type ReportedPaste,
} from './pastes/reports.ts';
export { rejectReports, upholdReports } from './pastes/judge-reports.ts';
export { removeJudgedReports, searchJudgedReports } from './retention/old-reports.ts';
export { revealPaste } from './pastes/reveal-paste.ts';
export {
  createPaste,
  createPastes,
  findRefusal,
  type CreatedPaste,
  type PasteRefusal,
} from './pastes/create-pastes.ts';
export type { NewPaste } from './pastes/insert-pastes.ts';
export {
  findMovableSlug,
  listSlugVersions,
  moveSlug,
  type MoveOutcome,
  type SlugVersion,
} from './pastes/slug-versions.ts';
export {
  requestDeletion,
  findPaste,
  findPasteBySlug,
  readPayload,
  type PasteRow,
  type PublicPaste,
} from './pastes/find-paste.ts';
export {
  uploadSubject,
  type ClaimedUpload,
  type UploadOutcome,
  type UploadSettlement,
} from './pastes/upload-subject.ts';
export { cancelJob } from './jobs/cancel-job.ts';
export { claimJob, type JobClaim } from './jobs/claim-job.ts';
export { findRetryRefusal, retryJob } from './jobs/retry-job.ts';
export { createCappedJob, createJob, type CreatedJob } from './jobs/create-job.ts';
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
} from './jobs/find-jobs.ts';
export {
  jobSubject,
  type ClaimedJob,
  type JobSettlement,
  type JobSettlementEnding,
} from './jobs/job-subject.ts';
export { readOpenUploads } from './jobs/open-uploads.ts';
export { secondsUntilBytesAllowed } from './jobs/imported-bytes.ts';
export { writeProgress } from './jobs/job-progress.ts';
export { createAsset, type NewAsset } from './jobs/assets.ts';
export { countStops } from './jobs/count-stops.ts';
export { findOlderArchives, readExport, removeArchives, type MadeArchive } from './jobs/exports.ts';
export { importedPositions, importPastes, type ImportEntry } from './jobs/import-pastes.ts';
export {
  countPastes,
  findAlive,
  listExportable,
  type ExportablePaste,
  type ExportFilter,
} from './pastes/exportable-pastes.ts';
export { findOldJobs, removeJobs, type OldJob } from './retention/old-jobs.ts';
export {
  addWorkKinds,
  hasClaimableJob,
  listPausedKinds,
  listWorkKinds,
  pauseKind,
  resumeKind,
  UPLOADS,
  type WorkKind,
} from './executions/work-kinds.ts';
export { findZombies, renewLeases, type Zombie } from './executions/leases.ts';
export { claimExecutions, type Claim, type ClaimedExecution } from './executions/claim.ts';
export { settleExecutions, type Settled, type Settlement } from './executions/settle.ts';
export { findSubjectOf, wasCancelled } from './executions/read-execution.ts';
export { findStranded, rescueStranded, type Stranded, type StrandedAmong } from './executions/rescue.ts';
export {
  defaultTimeBounds,
  findClaimsAhead,
  findExecutionsAhead,
  resetDeletionTimes,
  resetExecutionTimes,
  type TimeBounds,
} from './executions/times-ahead.ts';
export { walkOpenPastes } from './pastes/walk-open-pastes.ts';
export { countOlderPastes, findQuotaRefusal, readStoredUsage, type Quotas } from './pastes/quotas.ts';
export {
  overdue,
  pastLease,
  removeOrphans,
  undispatched,
  type Found,
  type Search,
} from './executions/search.ts';
export { countWaiting, findOverdue, findUndispatched, stampDispatched } from './executions/dispatch.ts';
export type { ExecutionSubject } from './executions/subject.ts';
export {
  claimExpired,
  releaseClaims,
  resetStuckDeletions,
  searchBurned,
  searchExpired,
  searchStuckDeletions,
  settleDeleted,
  takeOverBurned,
  type ClaimedDeletion,
} from './pastes/deletion.ts';
export {
  claimOldFailed,
  removeFailed,
  removeTombstones,
  searchOldFailed,
  searchTombstones,
  type OldFailed,
} from './retention/old-pastes.ts';
export {
  countDueOrphans,
  findDueOrphans,
  forgetOrphans,
  forgetUnseenOrphans,
  recordOrphans,
} from './retention/orphan-objects.ts';
export {
  beginOperatorAction,
  endOperatorAction,
  findOperatorAction,
  listOperatorActions,
  type OperatorAction,
} from './installation/operator-actions.ts';
export { readInstallation, recordBucketAdoption } from './installation/installation.ts';
export { dropOldTransitions, ensureTransitionPartitions } from './retention/old-transitions.ts';
export {
  answerIdempotencyKey,
  answerIdempotencyKeys,
  claimIdempotencyKey,
  releaseIdempotencyKey,
  removeOldIdempotencyKeys,
  searchOldIdempotencyKeys,
  type HeldKey,
  type KeyClaim,
} from './requests/idempotency-keys.ts';
export {
  rateLimitStore,
  removeEndedRateLimits,
  searchEndedRateLimits,
  type RateLimitStore,
} from './requests/rate-limits.ts';
export {
  databaseTime,
  findLiveObjects,
  findOpenJobs,
  findServedObjects,
  findStored,
  findStoredAssets,
} from './retention/reconcile.ts';
export {
  createApiToken,
  findGoodTokens,
  isGoodApiToken,
  listApiTokens,
  revokeApiToken,
  useApiToken,
  type ApiToken,
} from './identity/api-tokens.ts';
export {
  beginBrowserSession,
  endBrowserSession,
  endOtherBrowserSessions,
  endOwnBrowserSession,
  listBrowserSessions,
} from './identity/browser-sessions.ts';
export { createOwnToken, listOwnTokens, revokeOwnToken, type OwnToken } from './identity/own-tokens.ts';
export {
  beginOperatorSession,
  endOperatorSession,
  findOperatorSession,
  type OperatorSession,
} from './identity/operator-sessions.ts';
export { ensureUser, findUserId, findUserName, isErased } from './identity/users.ts';
export {
  countOwned,
  eraseUser,
  findEndedJobsOf,
  findOpenErasures,
  listErasures,
  findOpenJobsOf,
  finishErasure,
  removeOwnedRows,
  requestDeletionsOf,
  searchUndeleted,
  startErasure,
} from './retention/erasures.ts';
export type { OperatorMay } from './schema/users.ts';
export { listPastes, type ListedPaste } from './pastes/list-pastes.ts';
export {
  readJobTimeline,
  readTakedown,
  readTimeline,
  type Timeline,
  type TimelineTakedown,
} from './timeline/timeline.ts';
export {
  readChanges,
  type Snapshot,
  type SnapshotTransition,
  type Subscription,
} from './live/read-changes.ts';
export { type Page, type PageRequest, type Place } from './database/page.ts';
export {
  measureTransitions,
  type CountedTransitions,
  readTransitionStatistics,
  readUncountedSeconds,
  searchUncounted,
  stateDurationBounds,
  type TransitionStatistic,
} from './monitoring/measure-transitions.ts';
export { countReported, listFailedCauses } from './monitoring/for-operators.ts';
export { estimateLivePastes, readStateFigures, type StateFigures } from './monitoring/state-figures.ts';
export {
  findSnapshotHolders,
  snapshotHolderKinds,
  type SnapshotHolder,
} from './monitoring/snapshot-holders.ts';
export { isSweepDue, readSweepRuns, recordSweepRun, type SweepRun } from './sweeps/sweep-runs.ts';
export { findRefusedUploads, type RefusedUploads } from './monitoring/refused-uploads.ts';
export { countLostWork, findLostWork, findStuck } from './monitoring/stuck.ts';
export { holdLeaderLock } from './sweeps/leader-lock.ts';
export type { ExecutionKind } from './schema/executions.ts';
export type { Schema } from './schema/schema.ts';
export { requestDeletions, findOwnPastes, searchPastes } from './pastes/own-pastes.ts';
