import { renewLeases, type Database } from '@pasteflow/postgres';

interface Running {
  readonly abort: AbortController;
  readonly onLost: () => void;
  /** By the monotonic clock of this process, in ms. Counted from before the claim, so never later than the end in Postgres. */
  leaseEndsAt: number;
}

export interface RunningExecutionsOptions {
  readonly db: Database;
  readonly leaseSeconds: number;
  readonly now?: () => number;
}

/** The executions that this process runs. A heartbeat renews their leases. */
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
   * Starts to renew the lease of a claimed execution. When the lease is lost (another process ended the execution, or the lease was not
   * renewed in time), the returned signal is aborted and `onLost` called. `claimedAt` is `now()` before the claim.
   */
  begin(executionId: string, claimedAt: number, onLost: () => void): AbortSignal {
    const abort = new AbortController();
    const leaseEndsAt = claimedAt + this.#options.leaseSeconds * 1000;
    this.#running.set(executionId, { abort, onLost, leaseEndsAt });
    return abort.signal;
  }

  /** Stops renewing the lease, after the execution was settled. */
  end(executionId: string): void {
    this.#running.delete(executionId);
  }

  /**
   * Renews all leases in one statement. Drops executions that were ended by another process, and, while Postgres does not answer, those
   * whose lease has expired: another worker may run them by now.
   * @throws when Postgres does not answer
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
