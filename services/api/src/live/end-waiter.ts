import type { ServerResponse } from 'node:http';
import type { Snapshot, Subscription } from '@pasteflow/postgres';
import type { ChangePoller, Watcher } from './change-poller.ts';

/** The answer for the client (null: the paste or job was removed), or: the client has disconnected. */
export type Outcome =
  | { readonly kind: 'answer'; readonly snapshot: Snapshot | null }
  | { readonly kind: 'disconnected' };

export interface EndWaiterOptions {
  readonly kind: Subscription['kind'];
  readonly id: string;
  readonly seconds: number;
}

/**
 * Waits until an upload or a job has ended, or until the time is over. Then the answer is the current state.
 */
export class EndWaiter implements Watcher {
  readonly purpose = 'wait';
  readonly kind: Subscription['kind'];
  readonly id: string;
  readonly #poller: ChangePoller;
  readonly #seconds: number;
  readonly #outcome = Promise.withResolvers<Outcome>();
  #isOver = false;

  constructor(poller: ChangePoller, { kind, id, seconds }: EndWaiterOptions) {
    this.#poller = poller;
    this.kind = kind;
    this.id = id;
    this.#seconds = seconds;
  }

  /**
   * Call this after `watch`; it calls `unwatch`.
   * @throws DependencyUnavailableError when the time is over and Postgres doesn't answer
   */
  async outcome(res: ServerResponse): Promise<Outcome> {
    const leave = (): void => this.#outcome.resolve({ kind: 'disconnected' });
    const timer = setTimeout(() => this.onStop(), this.#seconds * 1000);
    res.once('close', leave);
    if (res.destroyed) leave(); // the event came before the listener
    try {
      return await this.#outcome.promise;
    } finally {
      clearTimeout(timer);
      res.off('close', leave);
      this.#poller.unwatch(this);
    }
  }

  wants(): Pick<Subscription, 'after' | 'row'> {
    return { after: null, row: this.#isOver ? 'always' : 'at the end' };
  }

  onSnapshot(snapshot: Snapshot | null): void {
    const hasRow = snapshot !== null && (snapshot.paste ?? snapshot.job) !== null; // false: postponed, or not requested
    if (snapshot === null || snapshot.gone || (hasRow && (snapshot.settled || this.#isOver)))
      this.#outcome.resolve({ kind: 'answer', snapshot });
  }

  onReadFailed(error: unknown): void {
    if (this.#isOver) this.#outcome.reject(error);
  }

  /** The time is over: the next read is the answer. */
  onStop(): void {
    this.#isOver = true;
    this.#poller.readNow(this);
  }
}
