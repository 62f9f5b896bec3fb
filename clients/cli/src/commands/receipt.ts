import type { Receipt } from '@pasteflow/client';
import { EXIT_DONE, type ExitCode } from '../errors.ts';
import type { Session } from '../session.ts';
import { pasteNamedBy } from '../settings/named.ts';

/** `pasteflow receipt CODE`: whether a paste that is deleted when it is read was fetched, and by whom. */
export async function receipt(
  { client, deleteTokens, output, server, signal }: Session,
  paste: string,
  options: { readonly deleteToken?: string },
): Promise<ExitCode> {
  const code = pasteNamedBy(paste, server);
  const deleteToken = options.deleteToken ?? (await deleteTokens.find(code));
  const found = await client.pastes.receipt(code, { deleteToken, signal });
  output.result(found, [lineOf(found)]);
  return EXIT_DONE;
}

function lineOf({ read_at: at, reader }: Receipt): string {
  if (at === null) return 'not fetched yet';
  return `fetched ${at} by ${reader === null ? 'somebody with the link' : personText(reader)}`;
}

function personText({ name, issuer }: NonNullable<Receipt['reader']>): string {
  return issuer === null ? name : `${name}, as ${hostOf(issuer)} says`;
}

function hostOf(issuer: string): string {
  try {
    return new URL(issuer).host;
  } catch {
    return issuer;
  }
}

/** A reader must not wait long to be told. */
const NAME_TIMEOUT_MS = 5000;

/** Tells the reader, before the content is fetched, what the owner of the paste will see. */
export async function toldBefore({ client, isAnonymous, signal }: Session): Promise<string> {
  const owner = 'Whoever made this paste will see that';
  if (isAnonymous) return `${owner} it was fetched.`;
  const until = AbortSignal.any([signal, AbortSignal.timeout(NAME_TIMEOUT_MS)]);
  const answer = await client.api.GET('/v1/usage', { signal: until }).catch(() => null);
  signal.throwIfAborted();
  const person = answer?.data?.person ?? null; // a server of an earlier version says nothing of it
  return `${owner} you${person === null ? '' : `, ${personText(person)},`} fetched it.`;
}
