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

/** 128 bits from the CSPRNG. Not randomUUID(), which browsers provide on secure origins only. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
