import type { components, operations } from './schema.ts';

type Schemas = components['schemas'];

export type Paste = Schemas['Paste'];
/** For an anonymous caller it has a `delete_token`, which only this response contains. */
export type CreatedPaste = Schemas['CreatedPaste'];
/** The options of a new paste, such as its `title`. */
export type NewPasteFields = NonNullable<operations['createPaste']['parameters']['query']>;
/** What is changed of a paste; a field that is left out stays. */
export type PasteChanges = Schemas['PasteChanges'];
/** Whether a paste that is deleted when it is read was fetched, and by whom. */
export type Receipt = Schemas['Receipt'];
export type PasteFilter = Filter<'listPastes'>;

/** Which paste a slug names, and which one before. */
export type SlugMove = Schemas['SlugMove'];
export type SlugVersion = Schemas['SlugVersion'];

export type Job = Schemas['Job'];
/** A job without its parameters and its result, which may be large. */
export type ListedJob = Schemas['ListedJob'];
export type QueuedJob = Schemas['QueuedJob'];
/** `job_type` and the `parameters` of this type. */
export type NewJob = operations['createJob']['requestBody']['content']['application/json'];
export type JobFilter = Filter<'listJobs'>;
export type Asset = Schemas['Asset'];
export type AssetFilter = Filter<'listAssets'>;

/** A request for secrets, for its user. */
export type SecretRequest = Schemas['SecretRequest'];
/** The same, for who may deposit one. */
export type OpenSecretRequest = Schemas['OpenSecretRequest'];
export type NewSecretRequest = Partial<Schemas['NewSecretRequest']>;
export type SecretRequestFilter = Filter<'listRequests'>;
export type Deposit = Schemas['Deposit'];
/** An encrypted document, and its key that is wrapped for who asks. */
export type NewDeposit = Schemas['NewDeposit'];

/** An address of the caller that is told what happens. */
export type Webhook = Schemas['Webhook'];
/** The same with its secret, which only the answers to its creation and its rotation have. */
export type SigningWebhook = Schemas['SigningWebhook'];
export type NewWebhook = Schemas['NewWebhook'];
export type WebhookEventType = Schemas['WebhookEventType'];
/** An event that was sent to a webhook, or waits to be. */
export type WebhookDelivery = Schemas['WebhookDelivery'];

/** Who runs the service, and what new pastes may be. */
export type Instance = Schemas['Instance'];

/** What the caller uses of each limit; null: no limit. */
export type Usage = Schemas['Usage'];

/** The transitions of a paste or a job and of its executions, oldest first. */
export type Timeline = Schemas['Timeline'];

/** The machine-readable error codes; the list is closed. */
export type ErrorCode = Schemas['Problem']['code'];
/** A field and the rule that it breaks. */
export type FieldError = NonNullable<Schemas['Problem']['errors']>[number];

/** The filters of a list; `limit` is the page size. */
type Filter<Name extends keyof operations> = operations[Name]['parameters'] extends { query?: infer Query }
  ? Omit<NonNullable<Query>, 'cursor'>
  : never;
