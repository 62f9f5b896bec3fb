/**
 * A worker claims nearly every upload within milliseconds, and the claim stamps it: the stamp of its message would change the same row twice.
 * Half of the time after which the relay looks for work without a stamp (RELAY_GRACE_SECONDS is 1 or more).
 */
const DELAY_MS = 500;

export interface DispatchStampsOptions {
  /** Stamps the executions that wait. Those that are claimed have their stamp. */
  readonly stamp: (executionIds: readonly string[]) => Promise<void>;
  /** Called when executions could not be stamped. The relay sends their messages again. */
  readonly onError: (error: unknown, count: number) => void;
}

/** Stamps executions as dispatched half a second after SQS has accepted their messages, when few of them still wait for a worker. */
export class DispatchStamps {
  readonly #options: DispatchStampsOptions;
  #sent: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #stamping: Promise<void> = Promise.resolve();

  constructor(options: DispatchStampsOptions) {
    this.#options = options;
  }

  /** Never throws and never waits. */
  add(executionIds: readonly string[]): void {
    this.#sent.push(...executionIds);
    this.#timer ??= setTimeout(() => void this.stampNow(), DELAY_MS);
  }

  /** Resolves when all executions that were added are stamped, or have failed. */
  async stampNow(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const sent = this.#sent.splice(0);
    if (sent.length > 0) this.#stamping = Promise.all([this.#stamping, this.#stamp(sent)]).then(() => {});
    await this.#stamping;
  }

  async #stamp(executionIds: readonly string[]): Promise<void> {
    const { stamp, onError } = this.#options;
    await stamp(executionIds).catch((error: unknown) => onError(error, executionIds.length));
  }
}
