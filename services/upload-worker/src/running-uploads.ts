import { renewLeases, type Database } from '@pasteflow/postgres';
import type { VisibilityChange } from '@pasteflow/sqs';

interface Running {
  readonly abort: AbortController;
  /** By this process's monotonic clock, in ms; counted from before the claim, so never later than Postgres has it. */
  leaseEndsAt: number;
}

export interface RunningUploadsOptions {
  readonly db: Database;
  readonly leaseSeconds: number;
  readonly visibilitySeconds: number;
  readonly changeVisibility: (changes: readonly VisibilityChange[]) => Promise<void>;
  /** Told of executions that were taken from this worker, or whose lease it could not renew in time. */
  readonly onLost: (executionId: string) => void;
  readonly now?: () => number;
}

/** What this process runs and which messages it holds; its heartbeats keep both its own. */
export class RunningUploads {
  readonly #options: RunningUploadsOptions;
  readonly #running = new Map<string, Running>();
  readonly #held = new Set<string>();

  constructor(options: RunningUploadsOptions) {
    this.#options = options;
  }

  now(): number {
    return (this.#options.now ?? (() => performance.now()))();
  }

  /** Until `release`, `keepHidden` keeps the message hidden. */
  hold(receiptHandle: string): void {
    this.#held.add(receiptHandle);
  }

  release(receiptHandle: string): void {
    this.#held.delete(receiptHandle);
  }

  /** Runs one claimed execution under its lease; `claimedAt` is `now()` before the claim. The signal tells it to drop its work. */
  async run<T>(
    executionId: string,
    claimedAt: number,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const abort = new AbortController();
    this.#running.set(executionId, { abort, leaseEndsAt: claimedAt + this.#options.leaseSeconds * 1000 });
    try {
      return await work(abort.signal);
    } finally {
      this.#running.delete(executionId);
    }
  }

  /**
   * Renews every lease in one statement. What is no longer ours is dropped; so is everything whose lease has run out when Postgres
   * doesn't answer, since someone else may be doing it.
   * @throws when Postgres doesn't answer
   */
  async renewLeases(): Promise<void> {
    const startedAt = this.now();
    const asked = [...this.#running.keys()];
    try {
      const kept = await renewLeases(this.#options.db, asked, this.#options.leaseSeconds);
      for (const executionId of asked) {
        const running = this.#running.get(executionId);
        if (running === undefined) continue;
        if (kept.has(executionId)) running.leaseEndsAt = startedAt + this.#options.leaseSeconds * 1000;
        else this.#drop(executionId, running);
      }
    } finally {
      for (const [executionId, running] of this.#running) {
        if (running.leaseEndsAt <= this.now()) this.#drop(executionId, running);
      }
    }
  }

  /**
   * Keeps the messages hidden that are held: as often as the leases are renewed, but apart from them, so that no lease is lost while SQS
   * swallows a request. A message that comes back too early does no harm.
   * @throws when SQS doesn't answer
   */
  async keepHidden(): Promise<void> {
    const seconds = this.#options.visibilitySeconds;
    await this.#options.changeVisibility(
      [...this.#held].map((receiptHandle) => ({ receiptHandle, seconds })),
    );
  }

  /** Tells everything that runs to drop its work. */
  abortAll(): void {
    for (const { abort } of this.#running.values()) abort.abort();
  }

  #drop(executionId: string, { abort }: Running): void {
    if (abort.signal.aborted) return;
    abort.abort();
    this.#options.onLost(executionId);
  }
}
