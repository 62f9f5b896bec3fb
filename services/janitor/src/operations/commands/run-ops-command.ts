import {
  asJson,
  type CommandResult,
  EXIT_FAILED,
  failed,
  runCommandLine,
  succeeded,
} from '@pasteflow/service-kit';
import type { Environment } from '@pasteflow/runtime';
import { findAction } from '../actions/actions.ts';
import { operator } from '../actions/record.ts';
import { withOperations, type Operations } from '../operations.ts';
import { ownCommands, parseOpsCommand, usage, type AskedAction, type OpsCommand } from './command-line.ts';
import { answerAndRecord } from './recorded-answer.ts';

type ShowLine = (line: string) => void;

/** `npm run ops`. @param onProgress called with lines that a long command shows while it runs */
export function runOpsCommand(
  args: readonly string[],
  env: Environment,
  onProgress: ShowLine = () => {},
): Promise<CommandResult> {
  const run = (command: OpsCommand) =>
    withOperations(env, (operations) => runCommand(operations, command, onProgress));
  return runCommandLine({ name: 'ops', usage, parse: parseOpsCommand, run }, args, env);
}

async function runCommand(
  operations: Operations,
  command: OpsCommand,
  onProgress: ShowLine,
): Promise<CommandResult> {
  if (command.action !== undefined) return await act(operations, command, onProgress);
  const own = ownCommands.find(({ name }) => name === command.kind);
  if (own === undefined) throw new Error(`${command.kind} is no command`);
  return await own.run(operations, command);
}

/** Exit code 1 while something is only shown that waits for --yes. */
async function act(
  operations: Operations,
  command: AskedAction,
  onProgress: ShowLine,
): Promise<CommandResult> {
  const { action: name, find, json } = command;
  const action = findAction(name);
  if (action === undefined) throw new Error(`${name} is no action`);
  const subject = (await find?.(operations.db, command.subject)) ?? command.subject;
  const unconfirmed = action.command?.unconfirmed;
  if (unconfirmed !== undefined) {
    const meant = await action.check(operations, subject);
    if (meant === null) return failed(EXIT_FAILED, `ops: ${unconfirmed.missing(subject)}\n`);
    if (command.kind === 'count') {
      const shown = unconfirmed.show(meant, subject);
      const stdout = json ? asJson(shown.json) : `${shown.text}\n`;
      if (meant.count === 0) return succeeded(stdout);
      const advice = `ops: nothing was changed. To ${unconfirmed.toDoIt}, repeat the command with --yes\n`;
      return { ...failed(EXIT_FAILED, advice), stdout };
    }
  }
  if (command.kind === 'count') throw new Error(`${name} needs no --yes`);
  const { reason, class: why, also = [] } = command;
  const by = { actor: operator(), reason, class: why, also };
  const running = {
    signal: new AbortController().signal,
    onProgress: (line: string) => onProgress(`ops: ${line}`),
  };
  action.uses?.forEach((each) => operations[each]);
  return await answerAndRecord(operations.db, { ...by, action: name, subject }, async () => {
    const done = await action.do(operations, subject, by, running);
    const shown = json ? asJson(done.json) : `${done.terminal ?? done.outcome}\n`;
    return { answer: succeeded(shown), outcome: done.outcome };
  });
}
