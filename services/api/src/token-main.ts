import { outliveOutput } from '@pasteflow/runtime';
import { printResult } from '@pasteflow/service-kit';
import { runTokenCommand } from './tokens/token-command.ts';

/** `npm run token`: makes, lists and revokes API tokens. */
outliveOutput();
printResult(await runTokenCommand(process.argv.slice(2), process.env));
