export {
  deliveryAttemptEvents,
  deliveryFields,
  jobAttemptEvents,
  jobFields,
  uploadAttemptEvents,
  uploadFields,
  type AttemptEnd,
  type AttemptEvents,
} from './attempt-events.ts';
export {
  BucketOwnerError,
  checkBucketOwner,
  type OwnerCheck,
  adoptBucket,
  countBucket,
  type BucketContents,
  BucketOwnership,
} from './bucket-owner.ts';
export {
  asJson,
  EXIT_FAILED,
  EXIT_USAGE,
  failed,
  printResult,
  commandDatabase,
  runCommandLine,
  succeeded,
  withDatabase,
  type CommandResult,
  type Help,
  isMisused,
  misused,
  parseArguments,
  quote,
  type Misused,
} from './command-line/run-command-line.ts';
export { decodeCursor, encodeCursor } from './cursor.ts';
export { commandName } from './command-name.ts';
export {
  formatBytes,
  formatDuration,
  formatMillisecond,
  formatSecond,
  formatTable,
  toOneLine,
} from './command-line/formats.ts';
export { canRead, isHeldFrom } from './readers.ts';
export { houseEnv, houseErrors, withExpiry } from './house.ts';
export { toFiles } from './new-files.ts';
export {
  changeFields,
  contentHashOf,
  encryptionErrors,
  expiresInField,
  fileSyntax,
  inFingerprint,
  jsonFile,
  jsonPaste,
  mustBeOneOf,
  ownerErrors,
  type PasteFieldError,
  type SentOptions,
  textOptions,
  toOptions,
  visibilityField,
} from './new-paste.ts';
export { MAX_SHORT_CODE_TRIES, randomShortCode, type ShortCodes } from './short-codes.ts';
export {
  ForbiddenAddressError,
  publicLookup,
  readEndpointUrl,
  type EndpointUrl,
  type EndpointUrlProblem,
} from './webhooks/endpoint-address.ts';
export { showWebhookKey, signatureHeaders, webhookSecret } from './webhooks/signature.ts';
export { settingNames } from './setting-names.ts';
export {
  awsEnv,
  webhookEnv,
  type WebhookSettings,
  bucketEnv,
  databaseEnv,
  idempotencyRetentionEnv,
  jobRetryEnv,
  jobTypesEnv,
  leaseSeconds,
  maxPasteBytesEnv,
  queueEnv,
  publicUrlEnv,
  quotaEnv,
  uploadRetryEnv,
} from './settings.ts';
export { watchPostgres } from './watch-postgres.ts';
