import { findEmbeddedStack } from './embedded-stack.ts';
import { runOpsCommand } from './ops/run-ops-command.ts';

/** `npm run ops`: what an operator asks and does by hand. */
findEmbeddedStack(process.env);
const { code, stdout, stderr } = await runOpsCommand(process.argv.slice(2), process.env);
process.stderr.write(stderr);
process.stdout.write(stdout);
process.exitCode = code;
