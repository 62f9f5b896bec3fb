import { PasteflowError, sequelOf, type AttemptSequel, type RetryPolicy } from '@pasteflow/domain';
import {
  claimUploads,
  settleUploads,
  type ClaimedUpload,
  type Database,
  type SettledUpload,
  type UploadOutcome,
  type UploadSettlement,
} from '@pasteflow/postgres';
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
  readonly outcome: UploadOutcome;
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
      for (const { receiptHandle } of deliveries) void running.release(receiptHandle);
    }
  }

  async #handle(deliveries: readonly Delivery[]): Promise<readonly Delivery[]> {
    const { running, putContent, gate, retry, settleLingerMs, dropping } = this.#options;
    const claimedAt = running.now();
    const { attempts, done } = await this.#claim(deliveries);
    const puts = attempts.map(async ({ delivery, upload }): Promise<EndedAttempt> => {
      const { contentBytes } = delivery.upload;
      const inline = contentBytes === undefined ? null : Buffer.from(contentBytes, 'base64');
      const signal = running.begin(upload.executionId, claimedAt);
      const outcome = await putContent(upload, inline, AbortSignal.any([signal, dropping]));
      if (outcome.kind === 'postponed') gate.close();
      return { delivery, upload, outcome, sequel: sequelOf(outcome, upload.attempt, retry, Math.random()) };
    });
    await inGroups(puts, settleLingerMs, async (group) => {
      done.push(...(await this.#settle(group)));
    });
    return done;
  }

  /** Of several messages for one paste the first stands for it; once that is claimed or ended, the others have nothing left to say. */
  async #claim(deliveries: readonly Delivery[]): Promise<{ attempts: readonly Attempt[]; done: Delivery[] }> {
    const { db, gate, worker, leaseSeconds, events } = this.#options;
    const attempts: Attempt[] = [];
    const done: Delivery[] = [];
    const first = new Map<string, Delivery>();
    const others: Delivery[] = [];
    for (const delivery of deliveries) {
      if (first.has(delivery.upload.shortCode)) others.push(delivery);
      else first.set(delivery.upload.shortCode, delivery);
    }
    try {
      const claims = await claimUploads(db, { shortCodes: [...first.keys()], actor: worker, leaseSeconds });
      done.push(...others);
      for (const [shortCode, delivery] of first) {
        const claim = claims.get(shortCode) ?? { kind: 'ended' };
        switch (claim.kind) {
          case 'claimed':
            attempts.push({ delivery, upload: claim.upload });
            break;
          case 'not_now':
            await this.#giveBack(delivery, claim.waitMs);
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
      for (const delivery of deliveries) await this.#giveBack(delivery, LOOK_AGAIN_MS);
    }
    return { attempts, done };
  }

  /** @returns what is to be acknowledged */
  async #settle(ended: readonly EndedAttempt[]): Promise<readonly Delivery[]> {
    const { events, running } = this.#options;
    const settled = await this.#settleUntilItCounts(
      ended.map(({ upload, outcome, sequel }) => ({ executionId: upload.executionId, outcome, sequel })),
    );
    for (const { upload } of ended) running.end(upload.executionId);
    const done: Delivery[] = [];
    for (const { delivery, upload, outcome, sequel } of ended) {
      if (!settled.has(upload.executionId)) {
        events.settlementLost(upload, delivery.context);
        await this.#giveBack(delivery, LOOK_AGAIN_MS);
        continue;
      }
      events.attemptEnded(upload, delivery.context, outcome, sequel);
      if (sequel.kind === 'retry') await this.#giveBack(delivery, sequel.delayMs);
      else done.push(delivery);
    }
    return done;
  }

  /**
   * The puts are done and only Postgres has to hear of it: tried again for the length of a lease, after which someone else does the work. A
   * settlement that counted, but whose answer was lost, comes out as lost on the second try: the message then finds the truth. What
   * Postgres refuses is settled one by one, so that one bad settlement doesn't take the others with it.
   */
  async #settleUntilItCounts(
    settlements: readonly UploadSettlement[],
  ): Promise<ReadonlyMap<string, SettledUpload>> {
    const { db, gate, worker, leaseSeconds, events, running, dropping } = this.#options;
    const deadline = running.now() + leaseSeconds * 1000;
    for (let failures = 1; ; failures++) {
      try {
        return await settleUploads(db, settlements, { actor: worker, dispatched: true });
      } catch (error) {
        events.dependencyFailed('settling uploads', error);
        if (!isUnavailable(error) && settlements.length > 1) {
          const settled = await Promise.all(settlements.map((each) => this.#settleUntilItCounts([each])));
          return new Map(settled.flatMap((each) => [...each]));
        }
        gate.close();
        if (running.now() > deadline || dropping.aborted) return new Map();
        await sleep(backoffMs(SETTLE_BACKOFF, failures, Math.random()), dropping);
      }
    }
  }

  async #giveBack({ receiptHandle }: Delivery, waitMs: number): Promise<void> {
    await this.#options.running.release(receiptHandle);
    this.#options.handBack.after(receiptHandle, waitMs);
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof PasteflowError && error.code === 'dependency_unavailable';
}
