import { hash } from 'node:crypto';
import { PROBE_KEY } from '@pasteflow/domain';
import { describeS3Error, refusalOf, type ObjectStore } from '@pasteflow/s3';

const PROBE = Buffer.from('pasteflow');
const PROBE_SHA256 = hash('sha256', PROBE, 'buffer');

/**
 * Whether S3 refuses everything that this process puts, for example because its key was rotated, or its right
 * was taken. Then a refusal says nothing about a paste.
 */
export class StorageAccess {
  readonly #store: Pick<ObjectStore, 'put' | 'deleteMany'>;
  #probing: Promise<string | null> | undefined;
  #isRefused = false;

  constructor(store: Pick<ObjectStore, 'put' | 'deleteMany'>) {
    this.#store = store;
  }

  /**
   * To be asked after a put has failed: what S3 answers to an object of our own; null: it takes that, or fails,
   * or has not refused the put.
   */
  async refusalBehind(error: unknown): Promise<string | null> {
    const refusal = refusalOf(error);
    if (refusal === null) return null;
    if (refusal === 'object') return await this.#probe();
    this.#isRefused = true;
    return describeS3Error(error);
  }

  /** Whether puts are worth an attempt: probes while they were refused. */
  async isGranted(): Promise<boolean> {
    return !this.#isRefused || (await this.#probe()) === null;
  }

  /** One probe for all that ask at the same time. */
  async #probe(): Promise<string | null> {
    this.#probing ??= this.#putAndDelete().finally(() => (this.#probing = undefined));
    return await this.#probing;
  }

  async #putAndDelete(): Promise<string | null> {
    try {
      await this.#store.put(PROBE_KEY, PROBE, { sha256: PROBE_SHA256 });
    } catch (error) {
      this.#isRefused = refusalOf(error) !== null;
      return this.#isRefused ? describeS3Error(error) : null;
    }
    this.#isRefused = false;
    await this.#store.deleteMany([PROBE_KEY]).catch(() => []); // `reconcile` removes what is left
    return null;
  }
}
