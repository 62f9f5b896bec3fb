import type { ExecutionKind } from '@pasteflow/postgres';

/** When the oldest message was sent that the last run of the dead-letters sweep saw in each queue: SQS itself tells nobody but CloudWatch. */
export class DeadLetterAges {
  readonly #sentAtMs = new Map<ExecutionKind, number>();

  /** @param sentAtMs Unix time; Infinity: there was none */
  saw(kind: ExecutionKind, sentAtMs: number): void {
    if (Number.isFinite(sentAtMs)) this.#sentAtMs.set(kind, sentAtMs);
    else this.#sentAtMs.delete(kind);
  }

  /** null: there was none. */
  secondsOf(kind: ExecutionKind): number | null {
    const sentAtMs = this.#sentAtMs.get(kind);
    return sentAtMs === undefined ? null : Math.max(0, Date.now() - sentAtMs) / 1000;
  }
}
