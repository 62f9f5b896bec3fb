import type { ExecutionKind } from '@pasteflow/postgres';

/** The sweep comes once a minute. What it saw it has settled: a janitor whose runs fail must not show it for ever, and ever older. */
const FORGET_AFTER_MS = 600_000;

/** When the oldest message was sent that the last run of the dead-letters sweep saw in each queue: SQS itself tells nobody but CloudWatch. */
export class DeadLetterAges {
  readonly #seen = new Map<ExecutionKind, { readonly sentAtMs: number; readonly atMs: number }>();
  readonly #nowMs: () => number;

  /** @param nowMs Unix time */
  constructor(nowMs = Date.now) {
    this.#nowMs = nowMs;
  }

  /** @param sentAtMs Unix time; Infinity: there was none */
  saw(kind: ExecutionKind, sentAtMs: number): void {
    if (Number.isFinite(sentAtMs)) this.#seen.set(kind, { sentAtMs, atMs: this.#nowMs() });
    else this.#seen.delete(kind);
  }

  /** null: there was none, or none for the last ten minutes. */
  secondsOf(kind: ExecutionKind): number | null {
    const seen = this.#seen.get(kind);
    const nowMs = this.#nowMs();
    if (seen === undefined || nowMs - seen.atMs > FORGET_AFTER_MS) return null;
    return Math.max(0, nowMs - seen.sentAtMs) / 1000;
  }
}
