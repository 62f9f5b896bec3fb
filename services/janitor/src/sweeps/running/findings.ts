import { MAX_UNREPORTED_LOSSES } from '@pasteflow/domain';
import type { ExecutionKind } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';

/** The short codes or keys that a log line of a run lists. Its `count` has the full number. */
export const MAX_NAMED = 100;

/** Counts findings, and keeps the names of the first 100. */
export class Findings {
  count = 0;
  readonly named: string[] = [];

  add(names: readonly string[]): void {
    this.count += names.length;
    this.named.push(...names.slice(0, MAX_NAMED - this.named.length));
  }
}

const MIN_INTERVAL_MS = 1000;

const NAMES = { upload: 'short_codes', job: 'job_ids', webhook: 'delivery_ids' } as const satisfies Record<
  ExecutionKind,
  string
>;

/**
 * Logs an error for uploads or jobs that were lost more than three times, since they may crash the workers
 * that run them. After an outage they may be many: there is at most one line a second, and losses in between
 * are part of the line of the next loss.
 */
export class RepeatedLosses {
  readonly #kind: ExecutionKind;
  readonly #logger: Logger;
  readonly #nowMs: () => number;
  #findings = new Findings();
  #lastLineAtMs = -Infinity;

  /** @param nowMs a monotonic clock */
  constructor(kind: ExecutionKind, logger: Logger, nowMs: () => number = () => performance.now()) {
    this.#kind = kind;
    this.#logger = logger;
    this.#nowMs = nowMs;
  }

  /** @param lost the work whose loss was recorded; `losses` counts those before */
  recorded(lost: readonly { readonly name: string; readonly losses: number }[]): void {
    const names = lost.filter(({ losses }) => losses + 1 > MAX_UNREPORTED_LOSSES).map(({ name }) => name);
    this.#findings.add(names);
    if (names.length === 0 || this.#nowMs() - this.#lastLineAtMs < MIN_INTERVAL_MS) return;
    const { count, named } = this.#findings;
    this.#logger.error(`${this.#kind}s lost more than ${MAX_UNREPORTED_LOSSES} times`, {
      count,
      [NAMES[this.#kind]]: named,
    });
    this.#findings = new Findings();
    this.#lastLineAtMs = this.#nowMs();
  }
}

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
