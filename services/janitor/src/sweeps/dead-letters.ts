import type { AttemptOutcome } from '@pasteflow/domain';
import type { Actor } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import { acknowledge, receiveDeadLetters, type SqsClient } from '@pasteflow/sqs';
import { keepingCounts } from '../sweeping/keeping-counts.ts';
import type { DeadLetterAges } from '../state-metrics/dead-letter-ages.ts';
import type { Sweep, SweepCounts } from '../sweeping/sweep.ts';
import { settlementOf } from '../work/settlement.ts';
import { sumOver, type Work } from '../work/work.ts';

export interface DeadLettersOptions {
  readonly sqs: SqsClient;
  readonly works: readonly Work[];
  readonly actor: Actor;
  readonly leaseSeconds: number;
  /** Told of the oldest message of each queue. */
  readonly ages: Pick<DeadLetterAges, 'saw'>;
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
 * Drains the dead-letter queues and settles what their messages stand for: an upload or job that is due ends this attempt as failed, with
 * the reason; the relay sends the next attempt its message. A message is acknowledged only after the outcome is in Postgres.
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
  runOnce(signal: AbortSignal): Promise<SweepCounts> {
    return sumOver(this.#options.works, (work) => this.#drain(work, signal));
  }

  async #drain(work: Work, signal: AbortSignal): Promise<SweepCounts> {
    const { sqs, ages } = this.#options;
    let oldest = Infinity;
    return keepingCounts({ unreadable: 0, alive: 0, ended: 0, failed: 0, given_up: 0 }, async (counts) => {
      while (!signal.aborted) {
        const messages = await receiveDeadLetters(sqs, work.deadLetters);
        if (messages.length === 0) break;
        oldest = Math.min(
          oldest,
          ...messages
            .map(({ Attributes }) => Number(Attributes?.SentTimestamp ?? NaN))
            .filter(Number.isFinite),
        );
        await this.#settle(work, messages, counts);
        await acknowledge(sqs, work.deadLetters, messages);
      }
      ages.saw(work.kind, oldest);
    });
  }

  async #settle(
    work: Work,
    messages: readonly Message[],
    counts: Record<'unreadable' | 'alive' | 'ended' | 'failed' | 'given_up', number>,
  ): Promise<void> {
    const { actor, leaseSeconds, random } = this.#options;
    const subjects = messages.flatMap((message) => this.#subjectOf(work, message) ?? []);
    counts.unreadable += messages.length - subjects.length;
    const claims = await work.claim(subjects, { actor, leaseSeconds });
    const settlements = [...claims.values()].flatMap((claim) =>
      claim.kind === 'claimed' ? [settlementOf(claim, DEAD_LETTER, work.policy, random())] : [],
    );
    const { count, successors } = await work.settle(settlements, { actor });
    counts.failed += count;
    counts.given_up += count - successors.count;
    const notClaimed = subjects.map((subject) => claims.get(subject)?.kind ?? 'ended');
    counts.alive += notClaimed.filter((kind) => kind === 'not_now').length;
    counts.ended += notClaimed.filter((kind) => kind === 'ended').length;
  }

  /** null when no worker could have read it. Its body is somebody's content: the log gets the id and what is wrong, and no `cause`. */
  #subjectOf(work: Work, message: Message): string | null {
    try {
      return work.subjectOf(message.Body);
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
