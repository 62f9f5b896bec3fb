import { inHalves, isTimeout, mayBeOfOneRow, renewLeases, type Database } from '@pasteflow/postgres';

/**
 * Postgres says that the execution is ended (`ended`), or the lease could not be renewed in time (`expired`).
 */
export type LeaseLoss = 'ended' | 'expired';

interface Running {
  readonly abort: AbortController;
  readonly onLost: (how: LeaseLoss) => void;
  /**
   * By the monotonic clock of this process, in ms. Counted from before the claim, so never later than the end
   * in Postgres.
   */
  leaseEndsAt: number;
}

/** The executions that this process runs. A heartbeat renews their leases. */
export class RunningExecutions {
  readonly #options;
  readonly #running = new Map<string, Running>();

  constructor(options: {
    readonly db: Database;
    readonly leaseSeconds: number;
    readonly now?: () => number;
    /** Called when the leases must be renewed before the next heartbeat. */
    readonly renewSoon?: () => void;
  }) {
    this.#options = options;
  }

  now(): number {
    return (this.#options.now ?? (() => performance.now()))();
  }

  /**
   * Starts to renew the lease of a claimed execution. When the lease is lost (another process ended the
   * execution, or the lease was not renewed in time), the returned signal is aborted and `onLost` called.
   * `claimedAt` is `now()` before the claim.
   */
  begin(executionId: string, claimedAt: number, onLost: (how: LeaseLoss) => void): AbortSignal {
    const abort = new AbortController();
    const leaseMs = this.#options.leaseSeconds * 1000;
    this.#running.set(executionId, { abort, onLost, leaseEndsAt: claimedAt + leaseMs });
    if (this.now() - claimedAt > leaseMs / 3) this.renewSoon(); // the claim took long
    return abort.signal;
  }

  /** Renews all leases before the next heartbeat. */
  renewSoon(): void {
    this.#options.renewSoon?.();
  }

  /** Whether this process runs the execution and its lease was not lost. */
  owns(executionId: string): boolean {
    return this.#running.get(executionId)?.abort.signal.aborted === false;
  }

  /** Stops renewing the lease, after the execution was settled. */
  end(executionId: string): void {
    this.#running.delete(executionId);
  }

  /**
   * Renews all leases, and again at once after a renewal that took longer than the interval: a lease counts
   * from its renewal's start.
   */
  async renewRepeatedly(intervalMs: number, signal: AbortSignal): Promise<void> {
    let startedAt: number;
    do {
      startedAt = this.now();
      await this.renewLeases();
    } while (this.now() - startedAt > intervalMs && this.#running.size > 0 && !signal.aborted);
  }

  /**
   * Renews all leases in one statement. One that Postgres refuses expires without the others. Drops executions that were ended by another process, and, while
   * Postgres does not answer, those whose lease has expired: another worker may run them by now.
   * @throws when Postgres does not answer
   */
  async renewLeases(): Promise<void> {
    const startedAt = this.now();
    const asked = [...this.#running.keys()];
    try {
      const { db, leaseSeconds } = this.#options;
      const refused = new Set<string>();
      const parts = await inHalves(
        asked,
        (part) => renewLeases(db, part, leaseSeconds),
        (executionId) => refused.add(executionId),
        // It waits for no row, so a timeout is about no row.
        (error) => mayBeOfOneRow(error) && !isTimeout(error),
      );
      const kept = new Set(parts.flatMap((part) => [...part]));
      for (const executionId of asked) {
        const running = this.#running.get(executionId);
        if (running === undefined || refused.has(executionId)) continue;
        if (kept.has(executionId)) running.leaseEndsAt = startedAt + this.#options.leaseSeconds * 1000;
        else drop(running, 'ended');
      }
    } finally {
      for (const executionId of asked) {
        const running = this.#running.get(executionId);
        if (running !== undefined && running.leaseEndsAt <= this.now()) drop(running, 'expired');
      }
    }
  }
}

function drop({ abort, onLost }: Running, how: LeaseLoss): void {
  if (abort.signal.aborted) return;
  abort.abort();
  onLost(how);
}
