import type { ExecutionKind } from '@pasteflow/postgres';

/**
 * The dead-letters sweep runs once a minute and settles what it saw. A janitor whose runs fail must not
 * report an old message forever, with a growing age.
 */
const FORGET_AFTER_MS = 600_000;

/**
 * For each dead-letter queue, the send time of the oldest message that the last run of dead-letters saw. SQS
 * reports this to CloudWatch only.
 */
export class DeadLetterAges {
  readonly #seen = new Map<ExecutionKind, { readonly sentAtMs: number; readonly atMs: number }>();
  readonly #nowMs: () => number;

  /** @param nowMs Unix time */
  constructor(nowMs = Date.now) {
    this.#nowMs = nowMs;
  }

  /** @param sentAtMs Unix time; Infinity when there was no message */
  saw(kind: ExecutionKind, sentAtMs: number): void {
    if (Number.isFinite(sentAtMs)) this.#seen.set(kind, { sentAtMs, atMs: this.#nowMs() });
    else this.#seen.delete(kind);
  }

  /** @returns null when there was no message, or no run in the last 10 minutes */
  secondsOf(kind: ExecutionKind): number | null {
    const seen = this.#seen.get(kind);
    const nowMs = this.#nowMs();
    if (seen === undefined || nowMs - seen.atMs > FORGET_AFTER_MS) return null;
    return Math.max(0, nowMs - seen.sentAtMs) / 1000;
  }
}
