import { PasteflowApiError } from '@pasteflow/client';
import { EXIT_DONE, EXIT_FAILED, type ExitCode, messageOf, UsageError } from '../errors.ts';
import type { Session } from '../session.ts';
import { pasteNamedBy } from '../settings/named.ts';

export interface RmOptions {
  readonly deleteToken?: string;
}

/** `pasteflow rm CODE…`: deletes pastes, anonymous ones with the delete tokens that `put` has kept. */
export async function rm(session: Session, pastes: readonly string[], options: RmOptions): Promise<ExitCode> {
  const codes = pastes.map((each) => pasteNamedBy(each, session.server));
  if (codes.length > 1 && options.deleteToken !== undefined)
    throw new UsageError('--delete-token is for one paste. Delete the pastes one by one.');
  let failures = 0;
  for (const code of codes) {
    try {
      await remove(session, code, options.deleteToken);
      session.output.result({ short_code: code, deleted: true }, []);
    } catch (error) {
      session.signal.throwIfAborted();
      failures += 1;
      session.output.problem(messageOf(error), code);
    }
  }
  return failures === 0 ? EXIT_DONE : EXIT_FAILED;
}

async function remove(
  { client, deleteTokens, signal }: Session,
  code: string,
  given: string | undefined,
): Promise<void> {
  const deleteToken = given ?? (await deleteTokens.find(code));
  try {
    await client.pastes.delete(code, { deleteToken, signal });
  } catch (error) {
    if (isGone(error)) await deleteTokens.forget(code);
    throw error;
  }
  await deleteTokens.forget(code);
}

/** A token of a paste that no longer exists is of no use. */
function isGone(error: unknown): boolean {
  return (
    error instanceof PasteflowApiError && (error.code === 'paste_gone' || error.code === 'paste_not_found')
  );
}
