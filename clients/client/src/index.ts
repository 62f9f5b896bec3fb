export type {
  Asset,
  AssetFilter,
  CreatedPaste,
  Deposit,
  ErrorCode,
  FieldError,
  Instance,
  Job,
  JobFilter,
  ListedJob,
  NewDeposit,
  NewJob,
  NewPasteFields,
  NewSecretRequest,
  NewWebhook,
  OpenSecretRequest,
  Paste,
  PasteChanges,
  PasteFilter,
  QueuedJob,
  Receipt,
  SecretRequest,
  SecretRequestFilter,
  SigningWebhook,
  SlugMove,
  SlugVersion,
  Timeline,
  Usage,
  Webhook,
  WebhookDelivery,
  WebhookEventType,
} from './api-types.ts';
export { createClient, type PasteflowClient } from './create-client.ts';
export {
  JobFailedError,
  PasteFailedError,
  PasteflowApiError,
  PasteflowConnectionError,
  PasteflowError,
  PasteflowTimeoutError,
  type ApiErrorFacts,
} from './errors.ts';
export type { EventsOptions, JobEvent, LiveEvent, PasteEvent } from './events.ts';
export type { CreateJobOptions, Jobs, JobWaitOptions } from './jobs.ts';
export type { Listing, Page } from './listing.ts';
export type { NewFile, CreatePasteOptions, OwnPasteOptions, RevealOptions } from './new-files.ts';
export type { Bytes, Content, PasteContent, StreamFactory } from './paste-content.ts';
export type { Pastes } from './pastes.ts';
export type { SecretRequests } from './requests.ts';
export type { Slugs } from './slugs.ts';
export { DEFAULT_RETRY, type OnRetry, type RetryPolicy } from './retries.ts';
export type { components, operations, paths } from './schema.ts';
export type { BareApi, ClientOptions, Fetch, TokenSource } from './transport.ts';
export type { CallOptions, CreateOptions, WaitOptions } from './waiting.ts';
export type { Webhooks } from './webhooks.ts';
