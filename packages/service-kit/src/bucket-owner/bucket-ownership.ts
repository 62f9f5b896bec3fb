import { PollLoop, sleep, type Component, type Logger } from '@pasteflow/runtime';
import { BucketOwnerError, checkBucketOwner, type OwnerCheck } from './check-bucket-owner.ts';

/** A bucket that is exchanged while the service runs is found within this time. */
const RECHECK_MS = 300_000;

/** The start waits this long for the first check, so that a mismatch is an error of the start. */
const FIRST_CHECK_MS = 2000;

/** Checks at the start, and every 5 minutes, that the bucket belongs to the database. */
export class BucketOwnership implements Component {
  readonly name = 'bucket owner';
  readonly #loop: PollLoop;
  readonly #verified = Promise.withResolvers<void>();
  readonly #firstCheck = Promise.withResolvers<void>();
  #mismatch: BucketOwnerError | undefined;
  #isVerified = false;
  #isStarted = false;

  /**
   * @param onMismatch stops the service: called when a check after the start finds that the bucket belongs to another
   *   database
   */
  constructor(
    owner: OwnerCheck & { readonly logger: Logger },
    onMismatch: (error: BucketOwnerError) => void,
  ) {
    this.#loop = new PollLoop({
      name: this.name,
      intervalMs: RECHECK_MS,
      run: () => this.#check(owner, onMismatch),
      onError: (error, { failures, retryInMs }) => {
        if (!Number.isInteger(Math.log2(failures))) return;
        owner.logger.warn('bucket owner not checked', { failures, retry_in_ms: retryInMs, error });
      },
    });
  }

  /**
   * Resolves after the first check, or after 2 s without an answer: then nothing is verified yet.
   * @throws BucketOwnerError
   */
  async start(): Promise<void> {
    await this.#loop.start();
    const waiting = new AbortController();
    await Promise.race([this.#firstCheck.promise, sleep(FIRST_CHECK_MS, waiting.signal)]);
    waiting.abort();
    this.#isStarted = true;
    if (this.#mismatch !== undefined) throw this.#mismatch;
  }

  /** Resolves when a check has passed, and when the service stops. */
  async waitUntilVerified(): Promise<void> {
    await this.#verified.promise;
  }

  /** Ends the waits of `waitUntilVerified`. */
  release(): void {
    this.#verified.resolve();
  }

  /** The readiness check. */
  async requireVerified(): Promise<void> {
    if (!this.#isVerified) throw new Error('the owner of the bucket has not been verified yet');
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.release();
    await this.#loop.stop();
  }

  async #check(owner: OwnerCheck, onMismatch: (error: BucketOwnerError) => void): Promise<void> {
    try {
      await checkBucketOwner(owner);
      this.#isVerified = true;
      this.#verified.resolve();
    } catch (error) {
      if (!(error instanceof BucketOwnerError)) throw error;
      this.#isVerified = false;
      this.#mismatch = error;
      if (this.#isStarted) onMismatch(error);
    } finally {
      this.#firstCheck.resolve();
    }
  }
}
