import type { Answer } from '@pasteflow/service-kit';
import type { Database } from '@pasteflow/postgres';
import { recordAction, type RecordedCommand } from './record-action.ts';

/**
 * Runs a command of `npm run ops` that changes something, and records the command. When the command has run but its outcome can't be
 * recorded, the answer contains a warning.
 */
export async function recorded(
  db: Database,
  command: RecordedCommand,
  run: () => Promise<Answer>,
): Promise<Answer> {
  const { result: answer, notRecorded } = await recordAction(db, command, run, outcomeOf);
  if (notRecorded === null) return answer;
  return { ...answer, stderr: `${answer.stderr}ops: the outcome was not recorded: ${notRecorded}\n` };
}

function outcomeOf({ code, stdout, stderr }: Answer): string {
  return code === 0 ? stdout || stderr : `Failed: ${stderr.replace(/^ops: /, '')}`;
}
