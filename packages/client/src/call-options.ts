import type { WaitOptions } from './waiting.ts';

export interface CallOptions {
  /** Ends the call with its own reason, whatever is under way. */
  readonly signal?: AbortSignal | undefined;
}

/** `timeoutMs` bounds the waiting. */
export interface CreateOptions extends WaitOptions {
  /** Resolves when the work has been done, and not as soon as it has been taken on. */
  readonly wait?: boolean | undefined;
  /** Requests of one caller with one key have the effect of one; a new key unless given. */
  readonly idempotencyKey?: string | undefined;
}
