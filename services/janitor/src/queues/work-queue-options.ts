import type { AttemptOutcome, RetryPolicy } from '@pasteflow/domain';
import type { AttemptEvents } from '@pasteflow/service-kit';
import type { Actor, ClaimedExecution, Database, Settlement, ExecutionSubject } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import type { Queue } from '@pasteflow/sqs';
import type { RepeatedLosses } from './repeated-losses.ts';

/** The outcome of an attempt whose worker has not settled it. The janitor knows of no success, and spends no attempt. */
export type UnfinishedOutcome = Extract<AttemptOutcome, { kind: 'lost' }>;

export interface SettledBy {
  readonly actor: Actor;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** What uploads and jobs do differently. */
export interface WorkQueueOptions<
  Name,
  Claimed extends ClaimedExecution & Name,
  Ending extends Settlement,
  State extends string,
  Message extends object,
> {
  readonly db: Database;
  readonly policy: RetryPolicy;
  readonly subject: ExecutionSubject<Name, Claimed, Ending, State, Message>;
  readonly events: AttemptEvents<Name & ClaimedExecution, State>;
  readonly logger: Logger;
  readonly repeatedLosses: RepeatedLosses;
  /** A short code, or the id of a job. */
  readonly nameOf: (name: Name) => string;
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly startsWhatItNames: boolean;
  readonly countLost: () => Promise<number | null>;
  readonly readKey: (body: string | undefined) => string;
  /** Sends up to 10 messages in one request. @returns the ids of the executions whose message SQS has accepted */
  readonly send: (batch: readonly Message[]) => Promise<readonly string[]>;
  /** The message of an attempt that follows another. */
  readonly messageOf: (executionId: string, name: Name) => Message;
  readonly settlementOf: (settlement: Settlement & { readonly outcome: UnfinishedOutcome }) => Ending;
}
