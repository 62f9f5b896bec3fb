import { DependencyUnavailableError } from '@pasteflow/domain';
import type { Client, Pool, PoolClient } from 'pg';

interface Caller {
  readonly refuse: () => void;
  /** Its index among the callers that wait. */
  place: number;
}

/** A pool whose callers and statements can be cut off. */
export class CuttablePool {
  readonly pool: Pool;
  readonly #used = new Set<PoolClient>();
  /** The callers that wait for a connection. An array, because a Set would keep callers that have left, with what they wait for (ADR 60). */
  readonly #waiting: Caller[] = [];
  #isCut = false;

  constructor(pool: Pool) {
    this.pool = pool;
  }

  connect(): Promise<PoolClient> {
    return new Promise((resolve, reject) => {
      const refuse = () => reject(new DependencyUnavailableError('postgres'));
      if (this.#isCut) return refuse();
      const caller = { refuse, place: this.#waiting.length };
      this.#waiting.push(caller);
      this.#connect().then(
        (client) => {
          if (this.#isCut) {
            client.release(true);
            return;
          }
          this.#leave(caller);
          this.#used.add(client);
          resolve(client);
        },
        (error: unknown) => {
          this.#leave(caller);
          // Whatever the cause is (the network, TLS, a password, a pooler): there is no connection now, and there may be one later.
          reject(new DependencyUnavailableError('postgres', { cause: error }));
        },
      );
    });
  }

  /** Async, because pg throws when it reads the certificate of the URL. */
  async #connect(): Promise<PoolClient> {
    return await this.pool.connect();
  }

  /** The last caller takes the place of the one that leaves. */
  #leave({ place }: Caller): void {
    const last = this.#waiting.pop();
    if (last === undefined || last.place === place) return;
    last.place = place;
    this.#waiting[place] = last;
  }

  release(client: PoolClient, destroy: boolean | undefined): void {
    this.#used.delete(client);
    client.release(destroy);
  }

  /** See cutStatements. */
  cut(): void {
    this.#isCut = true;
    for (const { refuse } of this.#waiting) refuse();
    // Closes the socket of a client under its statement. PoolClient's type leaves out that a client has an end().
    for (const client of this.#used) (client as unknown as Client).end().catch(() => {});
  }
}
