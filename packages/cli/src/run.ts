import { CommanderError } from 'commander';
import { EXIT_DONE, EXIT_FAILED, EXIT_MISUSED, type ExitCode } from './exit-codes.ts';
import { messageOf } from './message-of.ts';
import { buildProgram, type Act } from './program.ts';
import { OutputClosedError } from './terminal/output-closed-error.ts';
import { Output } from './terminal/output.ts';
import type { Terminal } from './terminal/terminal.ts';
import { UsageError } from './usage-error.ts';

/** Runs one command line. @param args without the name of the program */
export async function run(
  args: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitCode> {
  const output = new Output(terminal, { json: false });
  let code: ExitCode = EXIT_DONE;
  const act: Act = async (work) => {
    code = await work(terminal, signal);
  };
  try {
    await buildProgram(terminal, act).parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_DONE : EXIT_MISUSED;
    if (signal.reason instanceof OutputClosedError) return EXIT_FAILED;
    output.problem(signal.aborted ? 'Interrupted.' : messageOf(error));
    return error instanceof UsageError ? EXIT_MISUSED : EXIT_FAILED;
  }
}
