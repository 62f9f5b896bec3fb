import { misused, type CommandResult, type Misused } from '@pasteflow/service-kit';
import type { Operations } from '../operations.ts';

/** The options of a command line, by their names without the dashes. */
export type GivenOptions = Readonly<Record<string, string | boolean | undefined>>;

/** Options by their names: as they are written, and what --help says about them. */
export type Flags = Readonly<Record<string, readonly [flags: string, help: string]>>;

/** A command that is no action. `Given` is what it reads from its arguments. */
export interface OwnCommand<Given extends object = object> {
  readonly name: string;
  /** After the name, in the usage. Default: it takes no argument. */
  readonly takes?: string;
  readonly help: string;
  readonly flags?: Flags;
  /** @param args without the name. Default: it takes none */
  readonly read?: (args: readonly string[], options: GivenOptions) => Given | Misused;
  run(operations: Operations, given: Given & { readonly json: boolean }): Promise<CommandResult>;
}

/** A time that an option has; null: it was not given. */
export function timeOf(option: string, given: GivenOptions): Date | Misused | null {
  const text = given[option];
  if (text === undefined) return null;
  const time = new Date(String(text));
  return Number.isNaN(time.getTime()) ? misused(`--${option} takes a time such as 2026-11-22T03:00Z`) : time;
}
