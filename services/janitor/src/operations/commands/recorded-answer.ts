import type { CommandResult } from '@pasteflow/service-kit';
import type { Database } from '@pasteflow/postgres';
import { messageOf, operator, recorded, type RecordedAction } from '../actions/record.ts';

/** For commands that are no action, and have neither a subject nor a reason. */
export async function recordedAnswer(
  db: Database,
  action: string,
  run: () => Promise<CommandResult>,
): Promise<CommandResult> {
  return await answerAndRecord(db, { actor: operator(), action, subject: '', reason: null }, async () => {
    const answer = await run();
    return { answer, outcome: answer.stdout || answer.stderr };
  });
}

/** The answer of an action whose outcome can't be recorded has a warning. */
export async function answerAndRecord(
  db: Database,
  action: RecordedAction,
  run: () => Promise<{ readonly answer: CommandResult; readonly outcome: string }>,
): Promise<CommandResult> {
  let warning = '';
  const onNotRecorded = (error: unknown) => {
    warning = `ops: the outcome was not recorded: ${messageOf(error)}\n`;
  };
  const { answer } = await recorded(db, action, { run, outcomeOf: ({ outcome }) => outcome, onNotRecorded });
  return { ...answer, stderr: answer.stderr + warning };
}
