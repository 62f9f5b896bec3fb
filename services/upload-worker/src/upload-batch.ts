import { sequelOf, type AttemptOutcome, type AttemptSequel, type RetryPolicy } from '@pasteflow/domain';
import { claimUploads, settleUploads, type ClaimedUpload, type Database } from '@pasteflow/postgres';
import type { Delivery, HandBack } from '@pasteflow/sqs';
import { backoffMs, sleep } from '@pasteflow/runtime';
import type { DatabaseGate } from './database-gate.ts';
import type { UploadEvents } from './events.ts';
import { inGroups } from './in-groups.ts';
import type { PutContent } from './put-content.ts';
import type { RunningUploads } from './running-uploads.ts';

export interface UploadBatchOptions {
  readonly db: Database;
  readonly gate: DatabaseGate;
  readonly worker: string;
  readonly leaseSeconds: number;
  readonly retry: RetryPolicy;
  readonly running: RunningUploads;
  readonly handBack: HandBack;
  readonly putContent: PutContent;
  /** Object URL of a short code. */
  readonly urlOf: (shortCode: string) => string;
  readonly events: UploadEvents;
  /** Aborted when the worker is being stopped and what still runs is to be dropped. */
  readonly dropping: AbortSignal;
  /** See inGroups. */
  readonly settleLingerMs: number;
}

interface Attempt {
  readonly delivery: Delivery;
  readonly upload: ClaimedUpload;
}

interface EndedAttempt extends Attempt {
  readonly outcome: AttemptOutcome;
  readonly sequel: AttemptSequel;
}

/** When a message could not be claimed because Postgres is away, or its settlement was lost, it is looked at again this much later. */
const LOOK_AGAIN_MS = 1000;

const SETTLE_BACKOFF = { firstMs: 50, capMs: 1000, jitter: 0.2 };

/**
 * Handles up to 10 messages: one statement claims what is due, the puts run side by side, a statement a group settles what has ended,
 * and what is to be acknowledged is returned. Never throws.
 */
export class UploadBatch {
  readonly #options: UploadBatchOptions;

  constructor(options: UploadBatchOptions) {
    this.#options = options;
  }

  async handle(deliveries: readonly Delivery[]): Promise<readonly Delivery[]> {
    const { running } = this.#options;
    for (const { receiptHandle } of deliveries) running.hold(receiptHandle);
    try {
      return await this.#handle(deliveries);
    } finally {
      for (const { receiptHandle } of deliveries) running.release(receiptHandle);
    }
  }

  async #handle(deliveries: readonly Delivery[]): Promise<readonly Delivery[]> {
    const { running, putContent, retry, settleLingerMs } = this.#options;
    const claimedAt = running.now();
    const { attempts, done } = await this.#claim(deliveries);
    const puts = attempts.map(async ({ delivery, upload }): Promise<EndedAttempt> => {
      const { contentBytes } = delivery.upload;
      const inline = contentBytes === undefined ? null : Buffer.from(contentBytes, 'base64');
      const outcome = await running.run(upload.executionId, claimedAt, (signal) =>
        putContent(upload, inline, signal),
      );
      return { delivery, upload, outcome, sequel: sequelOf(outcome, upload.attempt, retry, Math.random()) };
    });
    await inGroups(puts, settleLingerMs, async (group) => {
      done.push(...(await this.#settle(group)));
    });
    return done;
  }

  /** Of several messages for one paste the first stands for it; the others have nothing left to say. */
  async #claim(deliveries: readonly Delivery[]): Promise<{ attempts: readonly Attempt[]; done: Delivery[] }> {
    const { db, gate, worker, leaseSeconds, events } = this.#options;
    const attempts: Attempt[] = [];
    const done: Delivery[] = [];
    const first = new Map<string, Delivery>();
    for (const delivery of deliveries) {
      if (first.has(delivery.upload.shortCode)) done.push(delivery);
      else first.set(delivery.upload.shortCode, delivery);
    }
    try {
      const claims = await claimUploads(db, { shortCodes: [...first.keys()], actor: worker, leaseSeconds });
      for (const [shortCode, delivery] of first) {
        const claim = claims.get(shortCode) ?? { kind: 'ended' };
        switch (claim.kind) {
          case 'claimed':
            attempts.push({ delivery, upload: claim.upload });
            break;
          case 'not_now':
            this.#giveBack(delivery, claim.waitMs);
            break;
          case 'ended':
            done.push(delivery);
            break;
          default:
            claim satisfies never;
        }
      }
    } catch (error) {
      events.dependencyFailed('claiming uploads', error);
      gate.close();
      for (const delivery of first.values()) this.#giveBack(delivery, LOOK_AGAIN_MS);
    }
    return { attempts, done };
  }

  /** @returns what is to be acknowledged */
  async #settle(ended: readonly EndedAttempt[]): Promise<readonly Delivery[]> {
    const { events, urlOf } = this.#options;
    const settled = await this.#settleUntilItCounts(
      ended.map(({ upload, outcome, sequel }) => ({
        executionId: upload.executionId,
        outcome,
        sequel,
        s3Url: outcome.kind === 'succeeded' ? urlOf(upload.shortCode) : null,
      })),
    );
    const done: Delivery[] = [];
    for (const { delivery, upload, outcome, sequel } of ended) {
      if (!settled.has(upload.executionId)) {
        events.settlementLost(upload, delivery.context);
        this.#giveBack(delivery, LOOK_AGAIN_MS);
        continue;
      }
      events.attemptEnded(upload, delivery.context, outcome, sequel);
      if (sequel.kind === 'retry') this.#giveBack(delivery, sequel.delayMs);
      else done.push(delivery);
    }
    return done;
  }

  /**
   * The puts are done and only Postgres has to hear of it: tried again for as long as the lease may hold. A settlement that counted, but
   * whose answer was lost, comes out as lost on the second try: the message then finds the truth.
   */
  async #settleUntilItCounts(
    settlements: Parameters<typeof settleUploads>[1],
  ): Promise<Awaited<ReturnType<typeof settleUploads>>> {
    const { db, gate, worker, leaseSeconds, events, running, dropping } = this.#options;
    const deadline = running.now() + leaseSeconds * 1000;
    for (let failures = 1; ; failures++) {
      try {
        return await settleUploads(db, settlements, { actor: worker, dispatched: true });
      } catch (error) {
        events.dependencyFailed('settling uploads', error);
        gate.close();
        if (running.now() > deadline || dropping.aborted) return new Map();
        await sleep(backoffMs(SETTLE_BACKOFF, failures, Math.random()), dropping);
      }
    }
  }

  #giveBack({ receiptHandle }: Delivery, waitMs: number): void {
    this.#options.running.release(receiptHandle);
    this.#options.handBack.after(receiptHandle, waitMs);
  }
}
