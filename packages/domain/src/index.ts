export {
  assertTransition,
  canTransition,
  isState,
  isTerminal,
  statesOf,
  transition,
  transitionsOf,
  type Machine,
  type StateColumn,
  type StateDescription,
  type Transition,
} from './machine.ts';
export { machines, type MachineName } from './machines/all.ts';
export { pasteUpload, type PasteUploadState } from './machines/paste-upload.ts';
export { pasteDeletion, type PasteDeletionState } from './machines/paste-deletion.ts';
export { job, type JobState } from './machines/job.ts';
export { taskExecution, type TaskExecutionState } from './machines/task-execution.ts';
export {
  DependencyUnavailableError,
  errorCodes,
  InvalidTransitionError,
  PasteflowError,
  type ErrorCode,
} from './errors.ts';
export { defaultRetryPolicy, maxAttempts, retryDelayMs, type RetryPolicy } from './retry.ts';
export { INTERRUPTED, sequelOf, WORKER_LOST, type AttemptOutcome, type AttemptSequel } from './attempt.ts';
export { DEFAULT_LEASE_SECONDS, heartbeatIntervalMs, messageVisibilitySeconds } from './lease.ts';
export {
  DEFAULT_EXPIRY_SECONDS,
  DEFAULT_MAX_PASTE_BYTES,
  DELETION_BATCH_SIZE,
  INLINE_CONTENT_BYTES,
  MAX_EXPIRY_SECONDS,
  MAX_SYNTAX_CHARACTERS,
  MAX_TITLE_CHARACTERS,
  MIN_EXPIRY_SECONDS,
  SQS_BATCH_SIZE,
} from './limits.ts';
export {
  isShortCode,
  OBJECT_KEY_PREFIX,
  objectKeyOf,
  SHORT_CODE_LENGTH,
  shortCodeFrom,
  shortCodeOfKey,
} from './short-code.ts';
export type { MessageContext, UploadMessage } from './messages.ts';
