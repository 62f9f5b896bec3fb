import { ConfigError, EXIT_CONFIG, type Environment } from '@pasteflow/runtime';
import { EXIT_FAILED, EXIT_USAGE, failed, succeeded, type CommandResult } from './command-result.ts';
import { isMisused, type Misused } from './arguments.ts';

export interface Help {
  readonly kind: 'help';
}

export interface CommandLine<Command extends { readonly kind: string }> {
  /** Precedes every message on stderr, e.g. `ops: there is no paste x`. */
  readonly name: string;
  /** Printed for `--help`, and below what is wrong with the arguments. */
  readonly usage: string;
  readonly parse: (args: readonly string[]) => Command | Help | Misused;
  /** An Error that it throws becomes exit code 1 and its message; a ConfigError becomes exit code 78. */
  readonly run: (command: Command, env: Environment) => Promise<CommandResult>;
}

/** Parses the arguments and runs the command. Wrong arguments give exit code 64. */
export async function runCommandLine<Command extends { readonly kind: string }>(
  { name, usage, parse, run }: CommandLine<Command>,
  args: readonly string[],
  env: Environment,
): Promise<CommandResult> {
  const command = parse(args);
  if (isHelp(command)) return succeeded(usage);
  if (isMisused(command)) return failed(EXIT_USAGE, `${name}: ${command.message}\n\n${usage}`);
  try {
    return await run(command, env);
  } catch (error) {
    const message = Error.isError(error) ? error.message : String(error);
    return failed(error instanceof ConfigError ? EXIT_CONFIG : EXIT_FAILED, `${name}: ${message}\n`);
  }
}

function isHelp(command: { readonly kind: string }): command is Help {
  return command.kind === 'help';
}
