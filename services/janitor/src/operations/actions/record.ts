import { hostname, userInfo } from 'node:os';
import { toOneLine } from '@pasteflow/service-kit';
import { beginOperatorAction, endOperatorAction, type Actor, type Database } from '@pasteflow/postgres';
import { NO_REASON } from './action.ts';

/** The actor of what an operator does with a command. */
export function operator(): Actor {
  return `ops/${userInfo().username}@${hostname()}`;
}

/** Of an operator who signs in. */
const MAX_NAME_CHARACTERS = 40;

/** A name as it is recorded: no slash, no # and no direction marks, which could make it look like another. */
export function cleanName(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}@._-]/gu, '').slice(0, MAX_NAME_CHARACTERS) || 'unnamed';
}

export interface RecordedAction {
  readonly actor: Actor;
  readonly action: string;
  /** A short code, the id of a user or job, a content hash or the name of a sweep; empty: none. */
  readonly subject: string;
  /** In the words of the operator; null: none was given. */
  readonly reason: string | null;
}

interface Recording<T> {
  readonly run: () => Promise<T>;
  /** What was done, in words. */
  readonly outcomeOf: (result: T) => string;
  /** Called when the outcome can't be recorded. What was done stays done. */
  readonly onNotRecorded: (error: unknown) => void;
}

/** Of the outcome. A list of many lines says the most at its beginning. */
const MAX_CHARACTERS = 500;

/**
 * Records an action before it begins. An action that can't be recorded is not done.
 * @returns the id of the record
 */
export async function recordBegin(
  db: Database,
  { actor, action, subject, reason }: RecordedAction,
): Promise<string> {
  return await beginOperatorAction(db, {
    actor,
    action,
    subject: subject === '' ? null : subject,
    reason: reason?.trim() || NO_REASON,
  });
}

/** Runs an action, and records how it ended. @throws the error of the action */
export async function recordEnd<T>(
  db: Database,
  id: string,
  { run, outcomeOf, onNotRecorded }: Recording<T>,
): Promise<T> {
  const end = (outcome: string) => endOperatorAction(db, id, shortened(outcome)).catch(onNotRecorded);
  try {
    const result = await run();
    await end(outcomeOf(result));
    return result;
  } catch (error) {
    await end(`Failed: ${messageOf(error)}`);
    throw error;
  }
}

/** Both of the above. */
export async function recorded<T>(db: Database, action: RecordedAction, recording: Recording<T>): Promise<T> {
  return await recordEnd(db, await recordBegin(db, action), recording);
}

export function messageOf(error: unknown): string {
  return Error.isError(error) ? error.message : String(error);
}

function shortened(text: string): string {
  const line = toOneLine(text.trim().replaceAll(/\s+/g, ' '));
  return line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS)}…` : line;
}
