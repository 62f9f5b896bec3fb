import { DependencyUnavailableError } from '@pasteflow/domain';
import type { Client, Pool, PoolClient } from 'pg';
import { toTypedError } from './errors.ts';

/** A pool whose callers and statements can be cut off. */
export class CuttablePool {
  readonly pool: Pool;
  readonly #used = new Set<PoolClient>();
  /** Refuse the callers that wait for a connection. */
  readonly #refusals = new Set<() => void>();
  #isCut = false;

  constructor(pool: Pool) {
    this.pool = pool;
  }

  connect(): Promise<PoolClient> {
    return new Promise((resolve, reject) => {
      const refuse = () => reject(new DependencyUnavailableError('postgres'));
      if (this.#isCut) return refuse();
      this.#refusals.add(refuse);
      this.pool.connect().then(
        (client) => {
          if (this.#isCut) return client.release(true);
          this.#refusals.delete(refuse);
          this.#used.add(client);
          resolve(client);
        },
        (error: unknown) => {
          this.#refusals.delete(refuse);
          reject(toTypedError(error));
        },
      );
    });
  }

  release(client: PoolClient, destroy: boolean | undefined): void {
    this.#used.delete(client);
    client.release(destroy);
  }

  /** See cutStatements. */
  cut(): void {
    this.#isCut = true;
    for (const refuse of this.#refusals) refuse();
    // Closes the socket of a client under its statement. PoolClient's type leaves out that a client has an end().
    for (const client of this.#used) (client as unknown as Client).end().catch(() => {});
  }
}
