import { runCommand, runService } from '@pasteflow/runtime';
import { EXIT_USAGE, parseCommandLine } from './command-line.ts';
import { composeJanitor } from './compose.ts';
import { loadJanitorConfig } from './config.ts';
import { findEmbeddedStack } from './embedded-stack.ts';
import { runOnce } from './once.ts';

const entry = { name: 'janitor', env: process.env, loadConfig: loadJanitorConfig };
const command = parseCommandLine(process.argv.slice(2));

switch (command.kind) {
  case 'service':
    await runService({ ...entry, compose: composeJanitor });
    break;
  case 'once':
    findEmbeddedStack(process.env);
    await runCommand({ ...entry, run: (opened) => runOnce(opened, command.sweep) });
    break;
  case 'misused':
    process.stderr.write(`janitor: ${command.message}\n`);
    process.exitCode = EXIT_USAGE;
    break;
  default:
    command satisfies never;
}
