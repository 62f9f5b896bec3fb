import { outliveOutput } from '@pasteflow/runtime';
import { printResult } from '@pasteflow/service-kit';
import { runOpsCommand } from './operations/commands/run-ops-command.ts';

/** `npm run ops`: shows operators the state of the system, and does their actions. */
outliveOutput();
printResult(
  await runOpsCommand(process.argv.slice(2), process.env, (line) => void process.stderr.write(`${line}\n`)),
);
