/**
 * The waits of long polls in seconds. The first is short, and each that brings nothing doubles the next: an
 * idle queue costs 12 requests a minute. A stop lets the poll finish, because SQS may already have delivered
 * messages to an aborted receive, which would stay hidden until their visibility timeout. So the longest is
 * no longer than the grace period of a stop.
 */
const WAIT_SECONDS = { first: 1, max: 5 };

/** What one consumer asks before and after each receive. */
export interface ReceiveTurn {
  /** Resolves when the consumer may receive, or the group stops. */
  begin(): Promise<void>;
  /** The receive has ended, or did not begin. Further calls until the next `begin` do nothing. */
  end(what: 'a full batch' | 'messages' | 'none' | 'error'): void;
  /** For the next receive. */
  readonly waitSeconds: number;
}

/**
 * Lets all consumers of a group receive while receives bring full batches, and otherwise one at a time. Several
 * that wait for messages would share what comes, and each share costs a request and a claim.
 */
export class ReceiveTurns {
  #receiving = 0;
  #hasMore = false;
  #waitSeconds = WAIT_SECONDS.first;
  #isStopping = false;
  readonly #waiting = new Set<() => void>();

  add(): ReceiveTurn {
    let isReceiving = false;
    const waitSeconds = () => this.#waitSeconds;
    return {
      begin: async () => {
        while (!this.#hasMore && this.#receiving > 0 && !this.#isStopping)
          await new Promise<void>((resolve) => this.#waiting.add(resolve));
        isReceiving = true;
        this.#receiving += 1;
      },
      end: (what) => {
        if (!isReceiving) return;
        isReceiving = false;
        this.#receiving -= 1;
        if (what !== 'error') this.#hasMore = what === 'a full batch';
        this.#waitSeconds =
          what === 'none' ? Math.min(WAIT_SECONDS.max, this.#waitSeconds * 2) : WAIT_SECONDS.first;
        this.#wakeAll();
      },
      get waitSeconds() {
        return waitSeconds();
      },
    };
  }

  stop(): void {
    this.#isStopping = true;
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
