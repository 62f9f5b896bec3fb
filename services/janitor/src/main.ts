import { EXIT_USAGE, failed, printResult, settingNames, succeeded } from '@pasteflow/service-kit';
import { runCommand, runService } from '@pasteflow/runtime';
import { parseJanitorCommand, usage, runOnce } from './command-line.ts';
import { composeJanitor } from './compose.ts';
import { loadJanitorConfig } from './config.ts';

const entry = { name: 'janitor', env: process.env, loadConfig: loadJanitorConfig, settingNames };
const command = parseJanitorCommand(process.argv.slice(2));

switch (command.kind) {
  case 'service':
    await runService({ ...entry, compose: composeJanitor });
    break;
  case 'once':
    await runCommand({ ...entry, run: (opened) => runOnce(opened, command) });
    break;
  case 'help':
    printResult(succeeded(usage));
    break;
  case 'misused':
    printResult(failed(EXIT_USAGE, `janitor: ${command.message}\n`));
    break;
  default:
    command satisfies never;
}
