import type { components, operations } from './schema.ts';

type Schemas = components['schemas'];

export type Paste = Schemas['Paste'];
/** Of an anonymous caller it has a `delete_token`, shown this once. */
export type CreatedPaste = Schemas['CreatedPaste'];
/** What a paste may be given beside its content: `title`, `syntax`, `expires_in`, `visibility`. */
export type NewPasteFields = NonNullable<operations['createPaste']['parameters']['query']>;
export type PasteFilter = Filter<'listPastes'>;

export type Job = Schemas['Job'];
/** A job without its parameters and its result, which may be long. */
export type ListedJob = Schemas['ListedJob'];
export type QueuedJob = Schemas['QueuedJob'];
/** `job_type`, and the `parameters` that this type takes. */
export type NewJob = operations['createJob']['requestBody']['content']['application/json'];
export type JobFilter = Filter<'listJobs'>;
export type Asset = Schemas['Asset'];
export type AssetFilter = Filter<'listAssets'>;

/** What happened to a paste or a job, and to its executions, oldest first. */
export type Timeline = Schemas['Timeline'];

/** The machine-readable names of what can go wrong; the list is closed. */
export type ErrorCode = Schemas['Problem']['code'];
/** Which field breaks which rule. */
export type FieldError = NonNullable<Schemas['Problem']['errors']>[number];

/** What a list may be narrowed by; `limit` is the size of a page. */
type Filter<Name extends keyof operations> = Omit<
  NonNullable<operations[Name]['parameters']['query']>,
  'cursor'
>;
