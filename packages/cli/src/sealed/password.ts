import { readSecret } from '../terminal/read-secret.ts';
import type { Session } from '../session.ts';
import { UsageError } from '../usage-error.ts';

/** A command line is visible to every user of a machine, so that a password is no argument. */
const VARIABLE = 'PASTEFLOW_PASSWORD';

/** The password from the environment; empty: none is set. */
export function presetPassword({ terminal }: Pick<Session, 'terminal'>): string {
  return terminal.env[VARIABLE] ?? '';
}

/** @throws UsageError when nobody can be asked */
export async function askForPassword({
  terminal,
  signal,
}: Pick<Session, 'terminal' | 'signal'>): Promise<string> {
  if (terminal.stdin.isTTY !== true)
    throw new UsageError(`There is no terminal to ask for the password. Set ${VARIABLE}.`);
  return await readSecret(terminal, 'Password: ', signal);
}
