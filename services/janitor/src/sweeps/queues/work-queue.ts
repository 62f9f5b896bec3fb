import type { Actor, Claim, ClaimedExecution, ExecutionKind, StrandedAmong } from '@pasteflow/postgres';
import type { Queue } from '@pasteflow/sqs';
import type { RefusedRows } from '../running/refused-rows.ts';

/** The table of executions, for the rows that Postgres refuses. */
export const EXECUTIONS = 'task_executions';

/** The executions of one kind of work: what reap-executions and rescue-stranded work on. */
export interface SweptWork {
  readonly kind: ExecutionKind;
  /** Ends up to `limit` zombies. */
  endZombies(
    limit: number,
    by: SettledBy,
  ): Promise<{ readonly found: number; readonly ended: EndedAttempts }>;
  /** Gives stranded work its next execution, or brings it to its end. */
  rescueStranded(among: StrandedAmong, limit: number, by: SettledBy): Promise<RescueCounts>;
}

/**
 * A queue of uploads or of jobs, with the executions behind its messages: what relay and dead-letters work on, too.
 */
export interface WorkQueue extends SweptWork {
  readonly queue: Queue;
  readonly deadLetters: Queue;
  /**
   * Whether a message starts only the upload that it names. A message of a job starts the due job whose turn
   * it is, so what happened to the message says nothing about the job that it names.
   */
  readonly startsWhatItNames: boolean;
  /** Messages that were never sent. */
  findUndispatched(options: SearchedBy & { graceSeconds: number }): Promise<UnsentMessages>;
  /** Messages that were sent and may be lost, the longest sent first. */
  findOverdue(options: SearchedBy & { olderThanSeconds: number }): Promise<UnsentMessages>;
  /** How many of the overdue messages count as lost; null: the queue is too deep to tell. */
  countLost(): Promise<number | null>;
  /** The short code or the job id in the body of a message. @throws PasteflowError malformed_message */
  readKey(body: string | undefined): string;
  /**
   * Claims the due executions of these uploads or jobs, and ends them as lost. A key without a claim: the
   * paste or the job was removed.
   */
  endDue(
    keys: readonly string[],
    error: string,
    by: SettledBy & { readonly leaseSeconds: number },
  ): Promise<{
    readonly claims: ReadonlyMap<string, Claim<ClaimedExecution>>;
    /** The keys whose execution Postgres refused to change. */
    readonly refused: ReadonlySet<string>;
    readonly ended: EndedAttempts;
  }>;
}

/** Messages for executions that need one. */
export interface UnsentMessages {
  readonly count: number;
  /**
   * Sends them, 10 a request, and stamps the executions whose message SQS has accepted. A crash between the
   * two leaves messages that will be sent again, which does no harm.
   * @returns the number of messages that SQS has accepted
   * @throws DependencyUnavailableError after at most one failed request a lane
   */
  dispatch(signal: AbortSignal): Promise<number>;
}

export interface EndedAttempts {
  /** The settlements that took effect. */
  readonly count: number;
  /** The messages of the attempts that follow, due at once or after their wait. */
  readonly successors: UnsentMessages;
}

interface RescueCounts {
  readonly found: number;
  /** Got their next execution. The relay sends its message when it is due, if its kind has messages. */
  readonly rescued: number;
  /** Were brought to their end. */
  readonly givenUp: number;
}

export interface SettledBy {
  readonly actor: Actor;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly refused: RefusedRows;
}

interface SearchedBy {
  readonly limit: number;
  readonly refused: RefusedRows;
}

/**
 * Runs on all kinds of work side by side, so that trouble with one doesn't hold up the others.
 * @throws the first failure, after all have ended
 */
export async function onAll<Work extends SweptWork>(
  kinds: readonly Work[],
  run: (work: Work) => Promise<void>,
): Promise<void> {
  const runs = await Promise.allSettled(kinds.map(run));
  const failed = runs.find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
