import type { NewPasteFields } from './api-types.ts';
import type { RetryPolicy } from './retries.ts';
import type { CallOptions, CreateOptions, WaitOptions } from './waiting.ts';

/** The options of the paste, as the API names them, and those of the call. `deleteToken`: of a superseded paste. */
export interface CreatePasteOptions extends CreateOptions, NewPasteFields, OwnPasteOptions {}

export interface RevealOptions extends WaitOptions {
  /**
   * At least 16 characters that nobody can guess: it gives access to the content for five minutes. Default: a
   * random one.
   */
  readonly idempotencyKey?: string | undefined;
  /** Overrides of the client's policy for this call. */
  readonly retry?: Partial<RetryPolicy> | undefined;
  /** Called before each request. */
  readonly onTry?: (() => void) | undefined;
}

/** Of a call that only the owner of a paste may make, or who has the delete token of an anonymous one. */
export interface OwnPasteOptions extends CallOptions {
  /** Needed for an anonymous paste; the owner needs none. */
  readonly deleteToken?: string | undefined;
}
