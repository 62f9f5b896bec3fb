import { toOneLine, type Answer } from '@pasteflow/command-line';
import { beginOperatorAction, endOperatorAction, type Database } from '@pasteflow/postgres';
import { operator } from './operator.ts';

export interface RecordedCommand {
  /** As on the operations page, where it has the action. */
  readonly action: string;
  /** A short code, the id of a user or job, or a content hash; null: none. */
  readonly subject: string | null;
  /** In the words of the operator; null: none was given. */
  readonly reason: string | null;
}

const NO_REASON = 'no reason given';

/** Of the outcome. A table of many lines says the most at its beginning. */
const MAX_CHARACTERS = 500;

/**
 * Runs a command that acts, and records it as the operations page does: before it begins, and when it has ended. A command that can't be
 * recorded does not run.
 */
export async function recorded(
  db: Database,
  { action, subject, reason }: RecordedCommand,
  run: () => Promise<Answer>,
): Promise<Answer> {
  const id = await beginOperatorAction(db, {
    actor: operator(),
    action,
    subject,
    reason: reason ?? NO_REASON,
  });
  try {
    const answer = await run();
    return await withOutcome(db, id, answer);
  } catch (error) {
    const text = `Failed: ${Error.isError(error) ? error.message : String(error)}`;
    await endOperatorAction(db, id, shortened(text)).catch(() => {}); // the error of the command is the one to report
    throw error;
  }
}

/** What was done stays done when only its record fails: the answer says both. */
async function withOutcome(db: Database, id: string, answer: Answer): Promise<Answer> {
  const { code, stdout, stderr } = answer;
  const outcome = code === 0 ? stdout || stderr : `Failed: ${stderr.replace(/^ops: /, '')}`;
  try {
    await endOperatorAction(db, id, shortened(outcome));
    return answer;
  } catch (error) {
    const why = Error.isError(error) ? error.message : String(error);
    return { ...answer, stderr: `${stderr}ops: the outcome was not recorded: ${why}\n` };
  }
}

function shortened(text: string): string {
  const line = toOneLine(text.trim().replaceAll(/\s+/g, ' '));
  return line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS)}…` : line;
}
