import type { Acknowledger } from '@pasteflow/sqs';
import { Mutex, Semaphore } from 'async-mutex';
import type { HeldMessages } from '../executions/held-messages.ts';
import type { UploadDelivery } from './claim-uploads.ts';
import type { UploadEvents } from './events.ts';
import type { UploadRunner } from './upload-runner.ts';

export interface UploadIntakeOptions {
  readonly runner: Pick<UploadRunner, 'runBatch' | 'runAlone'>;
  readonly messages: Pick<HeldMessages, 'whileHeld'>;
  readonly acknowledger: Pick<Acknowledger, 'acknowledge'>;
  readonly events: Pick<UploadEvents, 'dependencyFailed'>;
  /** Places for uploads beyond those of the consumers, each of which has the places for one batch. */
  readonly sparePlaces: number;
}

/**
 * Takes over the messages that the consumers receive. A consumer receives again as soon as there are places
 * for a whole batch, which any uploads have left that have ended, of whatever batches.
 */
export class UploadIntake {
  readonly #options: UploadIntakeOptions;
  /** Free places. Each consumer that receives has the places for one batch already. */
  readonly #places: Semaphore;
  readonly #batches = new Set<Promise<unknown>>();
  /** Held while this process runs a suspect: one suspect at a time. */
  readonly #alone = new Mutex();

  constructor(options: UploadIntakeOptions) {
    this.#options = options;
    this.#places = new Semaphore(options.sparePlaces);
  }

  /**
   * The handler of a batch (`ConsumerGroupOptions.handle`). Resolves when there is room for the next batch,
   * and returns no message.
   */
  async handle(deliveries: readonly UploadDelivery[]): Promise<readonly UploadDelivery[]> {
    const batch = this.#run(deliveries)
      .catch((error: unknown) => this.#options.events.dependencyFailed('handling uploads', error))
      .finally(() => this.#batches.delete(batch));
    this.#batches.add(batch);
    await this.#places.acquire(deliveries.length);
    return [];
  }

  /**
   * To be called when nothing more is received. Resolves when every message has been handled, and
   * acknowledged or returned.
   */
  async drain(): Promise<void> {
    await Promise.all(this.#batches);
  }

  async #run(deliveries: readonly UploadDelivery[]): Promise<void> {
    const { runner, messages, acknowledger } = this.#options;
    const ends = runner.runBatch(deliveries);
    const handle = async (delivery: UploadDelivery, n: number): Promise<void> => {
      let end = await ends[n];
      if (end === 'suspect') {
        await Promise.all(ends); // apart from the others of its batch
        end = await this.#alone.runExclusive(() => runner.runAlone(delivery));
      }
      this.#places.release();
      if (end === 'acknowledge') await acknowledger.acknowledge(delivery.message);
    };
    await Promise.all(
      deliveries.map((delivery, n) => messages.whileHeld([delivery], () => handle(delivery, n))),
    );
  }
}
