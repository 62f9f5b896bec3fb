import { createClient, type OnRetry, PasteflowApiError, type PasteflowClient } from '@pasteflow/client';
import { KeptSecrets } from './settings/kept-secrets.ts';
import { isReadableByOthers, readSettings, type CommonOptions } from './settings/settings.ts';
import { Output } from './terminal/output.ts';
import type { Terminal } from './terminal/terminal.ts';
import { UsageError } from './errors.ts';

/** What a command works with. */
export interface Session {
  readonly terminal: Terminal;
  readonly output: Output;
  readonly client: PasteflowClient;
  readonly server: string;
  readonly isAnonymous: boolean;
  readonly deleteTokens: KeptSecrets;
  /** The private parts of the links of requests. */
  readonly requestKeys: KeptSecrets;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
}

/** @throws UsageError when the session is anonymous: jobs belong to a user */
export function requireToken({ isAnonymous, server }: Session): void {
  if (isAnonymous) throw new UsageError(`This needs a token for ${server}. Run \`pasteflow login\` first.`);
}

/** @throws UsageError */
export async function openSession(
  terminal: Terminal,
  options: CommonOptions,
  signal: AbortSignal,
): Promise<Session> {
  const { server, token } = await readSettings(terminal.env, options);
  const output = new Output(terminal, { json: options.json === true });
  if (token !== undefined && isReadableByOthers(server))
    output.note(`Warning: ${server} is not encrypted. Others on the network can read your token.`);
  return {
    terminal,
    output,
    server,
    signal,
    isAnonymous: token === undefined,
    client: createClient({ baseUrl: server, token, onRetry: noteRetries(server, output) }),
    deleteTokens: new KeptSecrets(terminal.env, 'delete-tokens', server),
    requestKeys: new KeptSecrets(terminal.env, 'request-keys', server),
  };
}

const NOTE_EVERY_MS = 10_000;

/** The third try comes half a second after the first: a connection that breaks once is not worth a note. */
const QUIET_TRIES = 2;

/** A person who waits learns why, again and again, but not of each try. */
export function noteRetries(server: string, output: Output): OnRetry {
  let notedAt = -Infinity;
  return (error, tries) => {
    if (tries <= QUIET_TRIES || performance.now() - notedAt < NOTE_EVERY_MS) return;
    notedAt = performance.now();
    const problem = error instanceof PasteflowApiError ? `answers ${error.status}` : 'gives no answer';
    output.note(`${server} ${problem}. Trying again …`);
  };
}
