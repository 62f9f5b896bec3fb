import { UPLOAD_STAMP_SECONDS } from '@pasteflow/domain';

/** Executions that are sent within this time of each other are stamped with one statement. */
const WINDOW_MS = 500;

export interface DispatchStampsOptions {
  /** Stamps the executions that wait. Those that are claimed have their stamp. */
  readonly stamp: (executionIds: readonly string[], sentSecondsAgo: number) => Promise<void>;
  /** Called when executions could not be stamped. The relay sends their messages again. */
  readonly onError: (error: unknown, count: number) => void;
}

/** Executions whose messages SQS has accepted within half a second. */
interface Window {
  readonly openedAt: number;
  readonly executionIds: string[];
  readonly timer: NodeJS.Timeout;
}

/**
 * Stamps executions as dispatched `UPLOAD_STAMP_SECONDS` after SQS has accepted their messages, when few of them still wait for a worker. The
 * claim stamps the others: the stamp of their messages would change each row twice, and its indexes.
 */
export class DispatchStamps {
  readonly #options: DispatchStampsOptions;
  /** The oldest comes first. */
  readonly #windows: Window[] = [];
  #stamping: Promise<void> = Promise.resolve();

  constructor(options: DispatchStampsOptions) {
    this.#options = options;
  }

  /** Never throws and never waits. */
  add(executionIds: readonly string[]): void {
    this.#openWindow().executionIds.push(...executionIds);
  }

  /** Resolves when all executions that were added are stamped, or have failed. */
  async stampNow(): Promise<void> {
    this.#stampFirst(this.#windows.length);
    await this.#stamping;
  }

  #openWindow(): Window {
    const now = performance.now();
    const last = this.#windows.at(-1);
    if (last !== undefined && now - last.openedAt < WINDOW_MS) return last;
    const timer = setTimeout(() => this.#stampFirst(1), 1000 * UPLOAD_STAMP_SECONDS);
    const window = { openedAt: now, executionIds: [], timer };
    this.#windows.push(window);
    return window;
  }

  #stampFirst(count: number): void {
    const windows = this.#windows.splice(0, count);
    const last = windows.at(-1);
    if (last === undefined) return;
    for (const { timer } of windows) clearTimeout(timer);
    const sentMsAgo = Math.max(0, performance.now() - last.openedAt - WINDOW_MS);
    const executionIds = windows.flatMap((window) => window.executionIds);
    this.#stamping = Promise.all([this.#stamping, this.#stamp(executionIds, sentMsAgo / 1000)]).then(
      () => {},
    );
  }

  async #stamp(executionIds: readonly string[], sentSecondsAgo: number): Promise<void> {
    const { stamp, onError } = this.#options;
    await stamp(executionIds, sentSecondsAgo).catch((error: unknown) => onError(error, executionIds.length));
  }
}
