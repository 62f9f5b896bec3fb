export {
  assertTransition,
  canTransition,
  defineMachine,
  isState,
  isTerminal,
  openStatesOf,
  statesOf,
  transition,
  type Transition,
  transitionsOf,
  type Machine,
  type OpenStateOf,
  type StateOf,
} from './machine.ts';
export { machines, type MachineName } from './machines/all.ts';
export { pasteUpload, type PasteUploadState } from './machines/paste-upload.ts';
export { pasteDeletion, type PasteDeletionState } from './machines/paste-deletion.ts';
export { job, type JobState } from './machines/job.ts';
export { erasure, type ErasureState } from './machines/erasure.ts';
export { pasteReport, type PasteReportState } from './machines/paste-report.ts';
export { taskExecution, type TaskExecutionState } from './machines/task-execution.ts';
export {
  ContentBlockedError,
  QuotaExceededError,
  type UsedUpQuota,
  DependencyUnavailableError,
  ExecutionTakenError,
  InvalidTransitionError,
  JobEndedError,
  JobForbiddenError,
  JobNotFoundError,
  JobNotRetryableError,
  ParentNotFoundError,
  PasteflowError,
  type ErrorCode,
  type RetryRefusal,
} from './errors.ts';
export { DURATION, secondsOf } from './duration.ts';
export { fileNameOf } from './file-name.ts';
export {
  languageNamed,
  languageOf,
  languages,
  namesOfLanguage,
  nearestLanguage,
  type Language,
} from './languages.ts';
export { isSlug, SLUG, SLUG_MARK, SLUG_RULE } from './slug.ts';
export { DEFAULT_LEASE_SECONDS, heartbeatIntervalMs, messageVisibilitySeconds } from './lease.ts';
export {
  DEFAULT_EXPIRY_SECONDS,
  DEFAULT_MAX_PASTE_BYTES,
  DEFAULT_PAGE_SIZE,
  DELETION_BATCH_SIZE,
  INLINE_CONTENT_BYTES,
  MAX_EXPIRY_SECONDS,
  MAX_OPEN_REPORTS,
  MAX_PAGE_SIZE,
  MAX_REPORT_CHARACTERS,
  MAX_REPORT_CONTACT_CHARACTERS,
  MAX_SYNTAX_CHARACTERS,
  MIN_EXPIRY_SECONDS,
  REVEAL_MINUTES,
  SQS_BATCH_SIZE,
  visibilities,
  type Visibility,
} from './limits.ts';
export { contentEncodingOf, contentEncodings, type ContentEncoding } from './content-encoding.ts';
export {
  MAX_OWN_TOKENS,
  isVisibleName,
  MAX_TOKEN_NAME_CHARACTERS,
  ownTokenScopes,
  type OwnTokenScope,
  type TokenScope,
} from './own-token.ts';
export {
  contentOptionNames,
  copiedOptionNames,
  defaultOf,
  exportedOptionNames,
  optionNames,
  optionOf,
  pasteOptions,
  storedOptionNames,
  valuesOf,
  type ChosenOptions,
  type CopiedOption,
  type OptionName,
  type OptionsWith,
  type PasteOption,
  type StoredOption,
  type StoredOptions,
} from './paste-options.ts';
export { isShortCode, shortCodeFrom } from './short-code.ts';
export {
  BUCKET_OWNER_KEY,
  JOB_OBJECT_KEY_PREFIX,
  jobIdOfKey,
  jobKeyPrefix,
  OBJECT_KEY_PREFIX,
  objectKeyOf,
  PROBE_KEY,
  shortCodeOfKey,
} from './object-key.ts';
export { takedownClasses, type TakedownClass } from './takedown.ts';
export { isUuid } from './uuid.ts';
export { type JobMessage, type MessageContext, type UploadMessage } from './messages.ts';
export {
  defaultRetryPolicy,
  longestDelayMs,
  lossDelayMs,
  MAX_JOB_LOSSES,
  MAX_UNREPORTED_LOSSES,
  maxAttempts,
  retryDelayMs,
  type RetryPolicy,
} from './retry.ts';
export {
  INTERRUPTED,
  decideNextStep,
  WORKER_LOST,
  YIELDED,
  type AttemptCount,
  type AttemptOutcome,
  type NextStep,
} from './attempt.ts';
export { rereadCredentials } from './credentials.ts';
export {
  ALL_REFUSED,
  actorClasses,
  actorClassOf,
  parseJobReason,
  parseReason,
  reasonClasses,
  storedReason,
  textForOwner,
  wordsOf,
  type Reason,
} from './reason.ts';
