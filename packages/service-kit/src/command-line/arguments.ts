import { parseArgs, type ParseArgsConfig } from 'node:util';

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

export type ParsedArguments<Options extends OptionTypes> = { readonly kind: 'parsed' } & ReturnType<
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
