import { printAnswer } from '@pasteflow/service-kit';
import { runOpsCommand } from './ops/run-ops-command.ts';

/** `npm run ops`: shows an operator the state of the system, and moves dead letters back to their queues. */
printAnswer(
  await runOpsCommand(process.argv.slice(2), process.env, (line) => void process.stderr.write(`${line}\n`)),
);
