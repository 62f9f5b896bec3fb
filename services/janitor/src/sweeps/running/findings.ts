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

const NAMES = { upload: 'short_codes', job: 'job_ids' } as const satisfies Record<ExecutionKind, string>;

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
