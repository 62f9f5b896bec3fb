import type { ServerResponse } from 'node:http';
import type { Seen, Wanted } from '@pasteflow/postgres';
import type { ChangeWatch, Watcher } from './change-watch.ts';

/** Whoever waits has got what it waited for (null: it was removed), or has gone away. */
export type Outcome = { readonly kind: 'seen'; readonly seen: Seen | null } | { readonly kind: 'left' };

export interface EndWaiterOptions {
  readonly kind: Wanted['kind'];
  readonly id: string;
  readonly seconds: number;
}

/** Waits for the end of a paste's upload or of a job, or until its time is over: then for what there is. */
export class EndWaiter implements Watcher {
  readonly purpose = 'wait';
  readonly kind: Wanted['kind'];
  readonly id: string;
  readonly #watch: ChangeWatch;
  readonly #seconds: number;
  readonly #outcome = Promise.withResolvers<Outcome>();
  #isOver = false;

  constructor(watch: ChangeWatch, { kind, id, seconds }: EndWaiterOptions) {
    this.#watch = watch;
    this.kind = kind;
    this.id = id;
    this.#seconds = seconds;
  }

  /**
   * Once it is watching.
   * @throws DependencyUnavailableError when its time is over and Postgres doesn't answer
   */
  async outcome(res: ServerResponse): Promise<Outcome> {
    const leave = (): void => this.#outcome.resolve({ kind: 'left' });
    const timer = setTimeout(() => this.stop(), this.#seconds * 1000);
    res.once('close', leave);
    if (res.destroyed) leave(); // before anybody listened
    try {
      return await this.#outcome.promise;
    } finally {
      clearTimeout(timer);
      res.off('close', leave);
      this.#watch.unwatch(this);
    }
  }

  wants(): Pick<Wanted, 'after' | 'row'> {
    return { after: null, row: this.#isOver ? 'always' : 'at the end' };
  }

  seen(seen: Seen | null): void {
    const isWhole = seen !== null && (seen.paste ?? seen.job) !== null; // else its row is postponed, or wasn't asked for
    if (seen === null || seen.gone || (isWhole && (seen.settled || this.#isOver)))
      this.#outcome.resolve({ kind: 'seen', seen });
  }

  failed(error: unknown): void {
    if (this.#isOver) this.#outcome.reject(error);
  }

  /** Its time is over. */
  stop(): void {
    this.#isOver = true;
    this.#watch.wake(this);
  }
}
