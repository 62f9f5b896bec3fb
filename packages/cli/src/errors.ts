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

/** An error in words for the person at the terminal. It may have texts of the server: print it safely. */
export function messageOf(error: unknown): string {
  if (error instanceof PasteflowApiError) return apiMessageOf(error);
  if (error instanceof PasteflowConnectionError)
    return `The server did not answer: ${error.message}${causeOf(error)}. Check the network and the server's URL.`;
  const { code, path } = error as NodeJS.ErrnoException;
  const meaning = code === undefined ? undefined : MEANINGS[code];
  if (meaning !== undefined) return path === undefined ? meaning : `${path}: ${meaning}`;
  return error instanceof Error ? error.message : String(error);
}

function apiMessageOf({ status, code, detail, errors, requestId }: PasteflowApiError): string {
  const fields = errors.map(({ path, message }) => ` ${path} ${message}.`).join('');
  const login = code === 'unauthorized' ? ' Log in with `pasteflow login`.' : '';
  const report = status >= 500 && requestId !== null ? ` (request ${requestId})` : '';
  return `${detail}${fields}${login}${report}`;
}

/** Node's fetch says `fetch failed`, and its cause says why: `connect ECONNREFUSED 127.0.0.1:3000`. */
function causeOf(error: Error): string {
  let deepest: unknown = error.cause;
  while (deepest instanceof Error && deepest.cause instanceof Error) deepest = deepest.cause;
  const text = deepest instanceof Error ? deepest.message : '';
  return text === '' || error.message.includes(text) ? '' : ` (${text})`;
}
