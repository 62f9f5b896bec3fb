import { runTokenCommand } from './token/run-token-command.ts';

/** `npm run token`: makes, lists and revokes API tokens. */
const { code, stdout, stderr } = await runTokenCommand(process.argv.slice(2), process.env);
process.stderr.write(stderr);
process.stdout.write(stdout);
process.exitCode = code;
