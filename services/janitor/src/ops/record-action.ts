import { toOneLine } from '@pasteflow/service-kit';
import { beginOperatorAction, endOperatorAction, type Database } from '@pasteflow/postgres';
import { operator } from './operator.ts';

export interface RecordedCommand {
  /** As on the operations page, where it has the action. */
  readonly action: string;
  /** A short code, the id of a user or job, a content hash or the name of a sweep; null: none. */
  readonly subject: string | null;
  /** In the words of the operator; null: none was given. */
  readonly reason: string | null;
}

export interface Recorded<T> {
  readonly result: T;
  /** Why the outcome could not be recorded; null: it was recorded. What was done stays done. */
  readonly notRecorded: string | null;
}

const NO_REASON = 'no reason given';

/** Of the outcome. A table of many lines says the most at its beginning. */
const MAX_CHARACTERS = 500;

/**
 * Runs a command that acts, and records it as the operations page does: before it begins, and when it has ended. A command that can't be
 * recorded does not run.
 * @param outcomeOf what was done, in words
 * @throws the error of the command, which is recorded as its outcome
 */
export async function recordAction<T>(
  db: Database,
  { action, subject, reason }: RecordedCommand,
  run: () => Promise<T>,
  outcomeOf: (result: T) => string,
): Promise<Recorded<T>> {
  const id = await beginOperatorAction(db, {
    actor: operator(),
    action,
    subject,
    reason: reason?.trim() || NO_REASON,
  });
  let result: T;
  try {
    result = await run();
  } catch (error) {
    await endOperatorAction(db, id, shortened(`Failed: ${messageOf(error)}`)).catch(() => {}); // the error of the command is the one to report
    throw error;
  }
  try {
    await endOperatorAction(db, id, shortened(outcomeOf(result)));
    return { result, notRecorded: null };
  } catch (error) {
    return { result, notRecorded: messageOf(error) };
  }
}

function messageOf(error: unknown): string {
  return Error.isError(error) ? error.message : String(error);
}

function shortened(text: string): string {
  const line = toOneLine(text.trim().replaceAll(/\s+/g, ' '));
  return line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS)}…` : line;
}
