export {
  COLLATION_CHANGED,
  durabilitySettings,
  findChangedCollation,
  findSettingProblems,
  findUnsafeSettings,
  type DurabilitySetting,
} from './database/session-settings.ts';
export { createDatabase, cutStatements, pingDatabase, poolUse, type Database } from './database/database.ts';
export {
  cannotWrite,
  FORBIDDEN_CHANGE_SQLSTATE,
  INVALID_TRANSITION_SQLSTATE,
  isLockTimeout,
  isTimeout,
} from './database/errors.ts';
export {
  inHalves,
  inPortions,
  mayBeOfOneRow,
  type Aged,
  type Portion,
  type Portioned,
} from './database/one-row.ts';
export { migrate } from './migrate.ts';
export { findEnforcementGaps, installStateMachines } from './enforcement/install.ts';
export { findRightsGaps } from './roles/rights-gaps.ts';
export { findPrivilegedUser, PRIVILEGED_USER } from './roles/current-user.ts';
export type { Actor } from './database/actor.ts';
export { countRetryable, findRetryable, retryFailed, type Retryable } from './pastes/retry-failed.ts';
export * from './pastes/content-blocks.ts';
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
export {
  cancelSecretRequest,
  createSecretRequest,
  findRequestOf,
  findSecretRequest,
  insertDeposit,
  listDeposits,
  listReceipts,
  listSecretRequests,
  takePlace,
  type Deposit,
  type SecretRequest,
} from './secret-requests/secret-requests.ts';
export { claimDeliveries, type ClaimedDelivery, type DeliveryPlace } from './webhooks/claim-deliveries.ts';
export { findDelivery, listDeliveriesTo, sendAgain, type WebhookDelivery } from './webhooks/deliveries.ts';
export { deliverySubject, type DeliverySettlement } from './webhooks/delivery-subject.ts';
export * from './webhooks/endpoints.ts';
export { countUntoldEvents } from './webhooks/events.ts';
export { rejectReports, upholdReports } from './pastes/judge-reports.ts';
export * from './sweeps/old-rows.ts';
export * from './sweeps/old-webhooks.ts';
export { revealPaste } from './pastes/reveal-paste.ts';
export {
  createPaste,
  createPastes,
  findRefusal,
  type CreatedPaste,
  type PasteRefusal,
} from './pastes/create-pastes.ts';
export type { NewPaste } from './pastes/insert-pastes.ts';
export { findNewestVersions, findSuperseder } from './pastes/newer-versions.ts';
export {
  changePaste,
  readPasteChanges,
  type ChangeOutcome,
  type PasteChange,
  type PasteChanges,
} from './pastes/change-paste.ts';
export {
  findMovableSlug,
  listChainVersions,
  listSlugVersions,
  moveSlug,
  type MoveOutcome,
  type SlugVersion,
} from './pastes/slug-versions.ts';
export * from './pastes/find-paste.ts';
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
export * from './jobs/find-jobs.ts';
export {
  jobSubject,
  type ClaimedJob,
  type JobSettlement,
  type JobSettlementEnding,
} from './jobs/job-subject.ts';
export {
  countStops,
  createAsset,
  readOpenUploads,
  writeProgress,
  type NewAsset,
} from './jobs/running-job.ts';
export {
  importPastes,
  importedPositions,
  secondsUntilBytesAllowed,
  type ImportEntry,
} from './jobs/import-pastes.ts';
export { findOlderArchives, readExport, removeArchives, type MadeArchive } from './jobs/exports.ts';
export * from './pastes/exportable-pastes.ts';
export {
  addWorkKinds,
  hasClaimableJob,
  listPausedKinds,
  listWorkKinds,
  pauseKind,
  resumeKind,
  UPLOADS,
  WEBHOOKS,
  type WorkKind,
} from './executions/work-kinds.ts';
export { findSubjectOf, findZombies, renewLeases, wasCancelled, type Zombie } from './executions/leases.ts';
export { claimExecutions, type Claim, type ClaimedExecution } from './executions/claim.ts';
export { settleExecutions, type Settled, type Settlement } from './executions/settle.ts';
export { findStranded, rescueStranded, type Stranded, type StrandedAmong } from './executions/rescue.ts';
export {
  defaultTimeBounds,
  findClaimsAhead,
  findExecutionsAhead,
  resetDeletionTimes,
  resetExecutionTimes,
  type TimeBounds,
  WEBHOOK_DELAY_SECONDS,
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
export {
  countWaiting,
  findOverdue,
  findUndispatched,
  stampDispatched,
  stampUnlocked,
} from './executions/dispatch.ts';
export type { ExecutionSubject, SweptSubject } from './executions/subject.ts';
export * from './pastes/deletion.ts';
export {
  countDueOrphans,
  databaseTime,
  findDueOrphans,
  findLiveObjects,
  findOpenJobs,
  findServedObjects,
  findStored,
  findStoredAssets,
  forgetOrphans,
  forgetUnseenOrphans,
  recordOrphans,
} from './sweeps/reconcile.ts';
export {
  beginOperatorAction,
  endOperatorAction,
  findOperatorAction,
  listOperatorActions,
  readInstallation,
  recordBucketAdoption,
  type OperatorAction,
} from './installation.ts';
export {
  answerIdempotencyKey,
  answerIdempotencyKeys,
  claimIdempotencyKey,
  hasIdempotencyKey,
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
  createApiToken,
  findGoodTokens,
  isGoodApiToken,
  listApiTokens,
  revokeApiToken,
  useApiToken,
  useApiTokens,
  type ApiToken,
  type ApiTokenUse,
} from './identity/api-tokens.ts';
export { acceptInvitation, findInvitation, invite } from './identity/invitations.ts';
export * from './identity/sessions.ts';
export * from './identity/own-tokens.ts';
export {
  ensureUser,
  findNamesOf,
  findUserId,
  findUserNames,
  isErased,
  keepShownName,
  type UserNames,
} from './identity/users.ts';
export {
  countOwned,
  eraseUser,
  findEndedJobsOf,
  findOpenErasures,
  findOpenJobsOf,
  finishErasure,
  listErasures,
  removeOwnedRows,
  requestDeletionsOf,
  searchUndeleted,
  startErasure,
} from './sweeps/erasures.ts';
export type { OperatorMay } from './schema/users.ts';
export {
  findOwnPastes,
  listPastes,
  requestDeletions,
  searchPastes,
  searchPastesByExpiry,
  type ListedPaste,
} from './pastes/own-pastes.ts';
export * from './timeline/timeline.ts';
export * from './timeline/read-changes.ts';
export { type Page, type PageRequest, type Place } from './database/page.ts';
export * from './monitoring/measure-transitions.ts';
export * from './monitoring/for-operators.ts';
export { readInventory, type Counted, type Inventory } from './monitoring/inventory.ts';
export { listOpenErasures, type OpenErasure } from './monitoring/list-erasures.ts';
export { listJobsOfAll, type JobOfAnybody, type JobsFilter } from './monitoring/list-jobs.ts';
export {
  listedPasteStates,
  listPastesOfAll,
  type ListedPasteState,
  type PasteOfAnybody,
} from './monitoring/list-pastes.ts';
export { listUsers } from './monitoring/list-users.ts';
export { listLeasesOf, listWorkers, type HeldLease, type Worker } from './monitoring/list-workers.ts';
export { estimateLivePastes, readStateFigures, type StateFigures } from './monitoring/state-figures.ts';
export {
  holdLeaderLock,
  isSweepDue,
  readSweepRuns,
  recordSweepRun,
  type SweepRun,
} from './sweeps/sweep-runs.ts';
export type { ExecutionKind } from './schema/executions.ts';
export type { Schema } from './schema/schema.ts';
export { type DatabaseOptions, databaseUrlProblem } from './database/pool.ts';
