import { renewLeases, type Database } from '@pasteflow/postgres';

interface Running {
  readonly abort: AbortController;
  readonly onLost: () => void;
  /** By this process's monotonic clock, in ms; counted from before the claim, so never later than Postgres has it. */
  leaseEndsAt: number;
}

export interface RunningExecutionsOptions {
  readonly db: Database;
  readonly leaseSeconds: number;
  readonly now?: () => number;
}

/** What this process runs, uploads and jobs; its heartbeat keeps it its own. */
export class RunningExecutions {
  readonly #options: RunningExecutionsOptions;
  readonly #running = new Map<string, Running>();

  constructor(options: RunningExecutionsOptions) {
    this.#options = options;
  }

  now(): number {
    return (this.#options.now ?? (() => performance.now()))();
  }

  /**
   * From now on a claimed execution's lease is renewed; `claimedAt` is `now()` before the claim. The signal tells it to drop its work;
   * `onLost` is told when it was taken from this worker, or its lease could not be renewed in time.
   */
  begin(executionId: string, claimedAt: number, onLost: () => void): AbortSignal {
    const abort = new AbortController();
    const leaseEndsAt = claimedAt + this.#options.leaseSeconds * 1000;
    this.#running.set(executionId, { abort, onLost, leaseEndsAt });
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
        else drop(running);
      }
    } finally {
      for (const running of this.#running.values()) {
        if (running.leaseEndsAt <= this.now()) drop(running);
      }
    }
  }
}

function drop({ abort, onLost }: Running): void {
  if (abort.signal.aborted) return;
  abort.abort();
  onLost();
}
