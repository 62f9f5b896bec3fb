import { EXIT_DONE, type ExitCode } from '../exit-codes.ts';
import { contentOfBytes } from '../sealed/open-content.ts';
import type { Session } from '../session.ts';
import { pasteNamedBy } from '../settings/named.ts';
import { printContent, type PrintOptions } from './print-content.ts';

/** `pasteflow diff CODE`: what has changed since the paste that this one was made from, as a patch. */
export async function diff(session: Session, paste: string, options: PrintOptions): Promise<ExitCode> {
  const { client, server, signal } = session;
  const patch = await client.pastes.diff(pasteNamedBy(paste, server), { signal });
  await printContent(session, contentOfBytes(patch), options);
  return EXIT_DONE;
}
