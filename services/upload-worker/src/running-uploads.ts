import { SQS_BATCH_SIZE } from '@pasteflow/domain';
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
  #hiding: Promise<void> = Promise.resolve();

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

  /** Resolves when no request of `keepHidden` is under way that could still hide the message again after it was given back. */
  async release(receiptHandle: string): Promise<void> {
    this.#held.delete(receiptHandle);
    await this.#hiding;
  }

  /** From now on a claimed execution's lease is renewed; `claimedAt` is `now()` before the claim. The signal tells it to drop its work. */
  begin(executionId: string, claimedAt: number): AbortSignal {
    const abort = new AbortController();
    this.#running.set(executionId, { abort, leaseEndsAt: claimedAt + this.#options.leaseSeconds * 1000 });
    return abort.signal;
  }

  /** Once the execution has been settled. */
  end(executionId: string): void {
    this.#running.delete(executionId);
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
    const asked = [...this.#held];
    while (asked.length > 0) {
      // Looked at again before each request: what was released meanwhile must not be hidden again.
      const changes = asked
        .splice(0, SQS_BATCH_SIZE)
        .filter((receiptHandle) => this.#held.has(receiptHandle))
        .map((receiptHandle) => ({ receiptHandle, seconds }));
      if (changes.length === 0) continue;
      const request = this.#options.changeVisibility(changes);
      this.#hiding = request.catch(() => {});
      await request;
    }
  }

  #drop(executionId: string, { abort }: Running): void {
    if (abort.signal.aborted) return;
    abort.abort();
    this.#options.onLost(executionId);
  }
}
