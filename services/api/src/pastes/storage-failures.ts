import type { ObjectStore } from '@pasteflow/s3';

/** A failure that is older says little about S3 now. */
const REMEMBERED_MS = 5000;

/**
 * What this process knows about S3 from its own reads, and from the attempts of uploads that clients wait
 * for.
 */
export class StorageFailures {
  #failedAt = -Infinity;

  /** S3 has failed within the last seconds, and has not answered since. */
  get areRecent(): boolean {
    return performance.now() - this.#failedAt < REMEMBERED_MS;
  }

  failed(): void {
    this.#failedAt = performance.now();
  }

  answered(): void {
    this.#failedAt = -Infinity;
  }

  /** The same reads, which also tell whether S3 answers. A client that disconnects tells nothing. */
  observe<Store extends Pick<ObjectStore, 'get'>>(store: Store): Pick<Store, 'get'> {
    return {
      get: async (key, options) => {
        try {
          const object = await store.get(key, options);
          this.answered();
          return object;
        } catch (error) {
          if (options?.signal?.aborted !== true) this.failed();
          throw error;
        }
      },
    };
  }
}
