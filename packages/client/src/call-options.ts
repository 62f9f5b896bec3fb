import type { WaitOptions } from './waiting.ts';

export interface CallOptions {
  /** Ends the call; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** `timeoutMs` limits the wait. */
export interface CreateOptions extends WaitOptions {
  /** Resolve when the work has ended; default: as soon as it is accepted. */
  readonly wait?: boolean | undefined;
  /** Requests of one caller with the same key are executed once. Default: a new key. */
  readonly idempotencyKey?: string | undefined;
}
