import type { Command } from 'commander';
import type { ExitCode } from './errors.ts';
import type { Session } from './session.ts';
import type { Terminal } from './terminal/terminal.ts';

/** Runs the command that the command line has chosen. */
export type Act = (work: (terminal: Terminal, signal: AbortSignal) => Promise<ExitCode>) => Promise<void>;

/** The action of a command that works in a session: with its arguments, and its options if it has any. */
export type InSession = <Arguments extends unknown[]>(
  work: (session: Session, ...args: Arguments) => Promise<ExitCode>,
) => (...args: [...Arguments, Command] | [...Arguments, object, Command]) => Promise<void>;
