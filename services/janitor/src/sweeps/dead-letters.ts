import { sequelOf, type AttemptOutcome, type RetryPolicy } from '@pasteflow/domain';
import {
  claimUploads,
  settleUploads,
  type Actor,
  type ClaimedUpload,
  type Database,
} from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import { acknowledge, decodeUpload, receiveDeadLetters, type Queue } from '@pasteflow/sqs';
import type { SqsClient } from '../dispatch.ts';
import type { Sweep, SweepCounts } from '../sweep.ts';

export interface DeadLettersOptions {
  readonly db: Database;
  readonly sqs: SqsClient;
  readonly deadLetters: Queue;
  readonly actor: Actor;
  readonly leaseSeconds: number;
  readonly policy: RetryPolicy;
  readonly random: () => number;
  readonly logger: Logger;
}

type Message = Awaited<ReturnType<typeof receiveDeadLetters>>[number];

const DEAD_LETTER = {
  kind: 'failed',
  error: 'dead letter: received too often without an outcome',
} as const satisfies AttemptOutcome;

/** Keeps a hostile message from writing a page into the log. */
const MAX_REASON_CHARACTERS = 300;

/**
 * Drains the uploads' dead-letter queue and settles what its messages stand for: an upload that is due ends this attempt as failed, with the
 * reason; the relay sends the next attempt its message. A message is acknowledged only after the outcome is in Postgres.
 */
export class DeadLetters implements Sweep {
  readonly name = 'dead-letters';
  readonly #options: DeadLettersOptions;

  constructor(options: DeadLettersOptions) {
    this.#options = options;
  }

  /**
   * By message: `unreadable`; `alive`, not due yet or running elsewhere, and seen to by relay and reaper; `ended`, nothing was open any more.
   * By execution: `failed`, of which `given_up` were the last attempt.
   */
  async runOnce(signal: AbortSignal): Promise<SweepCounts> {
    const { sqs, deadLetters } = this.#options;
    const counts = { unreadable: 0, alive: 0, ended: 0, failed: 0, given_up: 0 };
    while (!signal.aborted) {
      const messages = await receiveDeadLetters(sqs, deadLetters);
      if (messages.length === 0) break;
      await this.#settle(messages, counts);
      await acknowledge(sqs, deadLetters, messages);
    }
    return counts;
  }

  async #settle(
    messages: readonly Message[],
    counts: Record<'unreadable' | 'alive' | 'ended' | 'failed' | 'given_up', number>,
  ) {
    const { db, actor, leaseSeconds } = this.#options;
    const shortCodes = messages.flatMap((message) => this.#shortCodeOf(message) ?? []);
    counts.unreadable += messages.length - shortCodes.length;
    const claims = await claimUploads(db, { shortCodes, actor, leaseSeconds });
    const claimed = [...claims.values()].flatMap((claim) => (claim.kind === 'claimed' ? [claim.upload] : []));
    const settled = await settleUploads(
      db,
      claimed.map((upload) => this.#settlementOf(upload)),
      { actor, dispatched: false },
    );
    counts.failed += settled.size;
    counts.given_up += [...settled.values()].filter(({ successorId }) => successorId === null).length;
    const notClaimed = shortCodes.map((code) => claims.get(code)?.kind ?? 'ended');
    counts.alive += notClaimed.filter((kind) => kind === 'not_now').length;
    counts.ended += notClaimed.filter((kind) => kind === 'ended').length;
  }

  #settlementOf({ executionId, attempt }: ClaimedUpload) {
    const { policy, random } = this.#options;
    return {
      executionId,
      outcome: DEAD_LETTER,
      sequel: sequelOf(DEAD_LETTER, attempt, policy, random()),
    };
  }

  /** null when no worker could have read it. Its body is somebody's content: the log gets the id and what is wrong, and no `cause`. */
  #shortCodeOf(message: Message): string | null {
    try {
      return decodeUpload(message.Body).shortCode;
    } catch (error) {
      const reason = error instanceof Error ? error.message.slice(0, MAX_REASON_CHARACTERS) : 'unknown';
      this.#options.logger.error('an unreadable dead letter was dropped', {
        messageId: message.MessageId,
        reason,
      });
      return null;
    }
  }
}
