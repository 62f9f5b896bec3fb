import { DependencyUnavailableError } from '@pasteflow/domain';
import type { Client, Pool, PoolClient } from 'pg';

/** A pool whose callers and statements can be cut off. */
export class CuttablePool {
  readonly pool: Pool;
  readonly #used = new Set<PoolClient>();
  /** Refuse the callers that wait for a connection. */
  readonly #waiting = new Set<() => void>();
  #isCut = false;

  constructor(pool: Pool) {
    this.pool = pool;
  }

  connect(): Promise<PoolClient> {
    return new Promise((resolve, reject) => {
      const refuse = () => reject(new DependencyUnavailableError('postgres'));
      if (this.#isCut) return refuse();
      this.#waiting.add(refuse);
      this.#connect().then(
        (client) => {
          if (this.#isCut) {
            client.release(true);
            return;
          }
          this.#waiting.delete(refuse);
          this.#used.add(client);
          resolve(client);
        },
        (error: unknown) => {
          this.#waiting.delete(refuse);
          // Whatever the cause is (the network, TLS, a password, a pooler): there is no connection now, and
          // there may be one later.
          reject(new DependencyUnavailableError('postgres', { cause: error }));
        },
      );
    });
  }

  /** Async, because pg throws when it reads the certificate of the URL. */
  async #connect(): Promise<PoolClient> {
    return await this.pool.connect();
  }

  release(client: PoolClient, destroy: boolean | undefined): void {
    this.#used.delete(client);
    client.release(destroy);
  }

  /** See cutStatements. */
  cut(): void {
    this.#isCut = true;
    for (const refuse of this.#waiting) refuse();
    // Closes the socket of a client under its statement. PoolClient's type leaves out that a client has an
    // end().
    for (const client of this.#used) (client as unknown as Client).end().catch(() => {});
  }
}
