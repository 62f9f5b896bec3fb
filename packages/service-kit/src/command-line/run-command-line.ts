import { parseArgs, type ParseArgsConfig } from 'node:util';
import { createDatabase, type Database } from '@pasteflow/postgres';
import { ConfigError, EXIT_CONFIG, loadConfig, type Environment } from '@pasteflow/runtime';
import { databaseEnv } from '../settings.ts';
import { commandName, type CommandName } from '../command-name.ts';

/** What a command prints, and its exit code. */
export interface CommandResult {
  readonly code: number;
  /** The result and nothing else, so that a script can use it. */
  readonly stdout: string;
  readonly stderr: string;
}

export const EXIT_FAILED = 1;

/** sysexits.h: EX_USAGE. */
export const EXIT_USAGE = 64;

const LINES_OF_TERMINAL = 24;

export function succeeded(stdout: string, stderr = ''): CommandResult {
  return { code: 0, stdout, stderr };
}

export function failed(code: number, stderr: string): CommandResult {
  return { code, stdout: '', stderr };
}

export function asJson(result: unknown): string {
  return `${JSON.stringify(result, null, 2)}\n`;
}

/**
 * Prints the answer of this process and sets its exit code: 1 when the answer can't be written, for example a
 * new token.
 */
export function printResult({ code, stdout, stderr }: CommandResult): void {
  process.exitCode = code;
  process.stderr.write(stderr);
  process.stdout.write(stdout, (error) => {
    if (error === null || error === undefined) return;
    process.exitCode = EXIT_FAILED;
    process.stderr.write(`The answer could not be written: ${error.message}\n`);
  });
}

export interface Help {
  readonly kind: 'help';
}

interface CommandLine<Command extends { readonly kind: string }> {
  /** Precedes every message on stderr, e.g. `ops: there is no paste x`. */
  readonly name: CommandName;
  /** Printed for `--help`, and below what is wrong with the arguments if a terminal shows both. */
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
  if (isMisused(command)) return failed(EXIT_USAGE, `${name}: ${command.message}\n\n${advice(name, usage)}`);
  try {
    return await run(command, env);
  } catch (error) {
    const message = Error.isError(error) ? error.message : String(error);
    return failed(error instanceof ConfigError ? EXIT_CONFIG : EXIT_FAILED, `${name}: ${message}\n`);
  }
}

/** Below a long usage, what is wrong would have left the terminal. */
function advice(name: CommandName, usage: string): string {
  if (usage.split('\n').length <= LINES_OF_TERMINAL - 3) return usage;
  return `${commandName(name)} --help shows all commands and options.\n`;
}

function isHelp(command: { readonly kind: string }): command is Help {
  return command.kind === 'help';
}

/** A command asks one thing after the other; the second connection serves what it asks side by side. */
const MAX_CONNECTIONS = 2;

/**
 * The database that `DATABASE_URL` names. Postgres shows the connection as `pasteflow-NAME`.
 * @throws ConfigError when DATABASE_URL is missing or wrong
 */
export function commandDatabase(name: string, env: Environment): Database {
  const { url } = loadConfig(databaseEnv, env);
  return createDatabase({
    url,
    applicationName: `pasteflow-${name}`,
    maxConnections: MAX_CONNECTIONS,
    preparedStatements: false, // a command executes a statement once or twice
    onConnectionError: () => {}, // the statement that fails reports it
  });
}

/** Opens it for as long as `run` takes. @throws as commandDatabase */
export async function withDatabase<T>(
  name: string,
  env: Environment,
  run: (db: Database) => Promise<T>,
): Promise<T> {
  const db = commandDatabase(name, env);
  try {
    return await run(db);
  } finally {
    await db.destroy();
  }
}

/** The arguments are wrong. `message` says what is wrong, in one line. */
export interface Misused {
  readonly kind: 'misused';
  readonly message: string;
}

type OptionTypes = NonNullable<ParseArgsConfig['options']>;

interface Config<Options extends OptionTypes> {
  readonly args: string[];
  readonly options: Options;
  readonly allowPositionals: true;
}

type ParsedArguments<Options extends OptionTypes> = { readonly kind: 'parsed' } & ReturnType<
  typeof parseArgs<Config<Options>>
>;

/**
 * Parses with Node's own `util.parseArgs`: its result is typed by `options`, its messages name the wrong
 * option, and it adds nothing to the images of the services.
 */
export function parseArguments<const Options extends OptionTypes>(
  args: readonly string[],
  options: Options,
): ParsedArguments<Options> | Misused {
  try {
    return {
      kind: 'parsed',
      ...parseArgs<Config<Options>>({ args: [...args], options, allowPositionals: true }),
    };
  } catch (error) {
    return misused((error as Error).message.split(/\.\s/)[0] ?? ''); // the second sentence explains `--`
  }
}

export function misused(message: string): Misused {
  return { kind: 'misused', message };
}

export function isMisused(read: unknown): read is Misused {
  return typeof read === 'object' && read !== null && 'kind' in read && read.kind === 'misused';
}

const MAX_QUOTED_CHARACTERS = 100;

/**
 * An argument as it appears in a message. An API token that was given in the wrong place must not reach the
 * terminal's history.
 */
export function quote(argument: string): string {
  return JSON.stringify(argument.replaceAll(/pf_[\w-]+/g, 'pf_…').slice(0, MAX_QUOTED_CHARACTERS));
}
