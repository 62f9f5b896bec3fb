import { PasteflowApiError, PasteflowConnectionError } from '@pasteflow/client';

export const EXIT_DONE = 0;
/** The command failed, or a part of it. */
export const EXIT_FAILED = 1;
/** The command line or the configuration is wrong. */
export const EXIT_MISUSED = 2;

export type ExitCode = typeof EXIT_DONE | typeof EXIT_FAILED | typeof EXIT_MISUSED;

/** The command or its environment is wrong: exit code 2. The message says what to do. */
export class UsageError extends Error {}

/** stdout takes nothing more: its reader is gone, or its disk is full, which was said. */
export class OutputClosedError extends Error {}

const MEANINGS: Readonly<Record<string, string>> = {
  ENOENT: 'There is no such file or folder.',
  EACCES: 'You have no right to use this file or folder.',
  ENOSPC: 'The disk is full.',
  EISDIR: 'This is a directory. Name a file.',
};

/**
 * An error in words for the person at the terminal. It may have texts of the server: print it safely.
 * @param about the file that the message is printed with, which it then does not repeat
 */
export function messageOf(error: unknown, about?: string): string {
  if (error instanceof PasteflowApiError) return apiMessageOf(error);
  if (error instanceof PasteflowConnectionError)
    return `The connection to the server failed: ${reasonOf(error)}. Check the network and the server's URL.`;
  const { code, path } = error as NodeJS.ErrnoException;
  const meaning = code === undefined ? undefined : MEANINGS[code];
  if (meaning !== undefined) return path === undefined || path === about ? meaning : `${path}: ${meaning}`;
  return error instanceof Error ? error.message : String(error);
}

function apiMessageOf({ status, code, detail, errors, requestId }: PasteflowApiError): string {
  if (code === 'reveal_required')
    return 'This paste is deleted when it is read. To read it, once: pasteflow cat --reveal. Whoever made it will see that it was fetched.';
  // Where there are fields, the detail only says that there are.
  const problem =
    errors.length === 0 ? detail : errors.map(({ path, message }) => `${path} ${message}.`).join(' ');
  const login = code === 'unauthorized' ? ' Log in with `pasteflow login`.' : '';
  const report = status >= 500 && requestId !== null ? ` (request ${requestId})` : '';
  return `${problem}${login}${report}`;
}

/**
 * Without the request, which the person knows. Node's fetch says `fetch failed`, and its cause says why:
 * `connect ECONNREFUSED 127.0.0.1:3000`.
 */
function reasonOf(error: Error): string {
  const own = error.message.replace(/^[A-Z]+ \S+: (fetch failed(: )?)?/, '');
  let deepest: Partial<NodeJS.ErrnoException> = error;
  while (typeof deepest.cause === 'object' && deepest.cause !== null) deepest = deepest.cause;
  const cause = deepest.message || deepest.code || ''; // a name with several addresses has a code alone
  if (own === '') return cause;
  return error.message.includes(cause) ? own : `${own} (${cause})`;
}
