import type { PasteContent } from '@pasteflow/client';
import {
  keyOfFragment,
  openSealed,
  parseSealedText,
  WrongKeyError,
  type Message,
  type SecretKey,
} from '@pasteflow/sealed';
import type { Session } from '../session.ts';
import { safeText } from '../terminal/safe-text.ts';
import { UsageError } from '../usage-error.ts';
import { askForPassword, presetPassword } from './password.ts';

/** A content that is at hand: what a download has, too. */
export type ReadableContent = Pick<PasteContent, 'stream' | 'size'>;

/** The key in the argument of a command; null: it has none. @throws UsageError for a damaged key */
export function keyIn(argument: string): SecretKey | null {
  const start = argument.indexOf('#');
  if (start === -1) return null;
  const key = keyOfFragment(argument.slice(start));
  if (key === null)
    throw new UsageError('What follows the # of the URL is no key. Copy the whole URL, and quote it.');
  return key;
}

/** Decrypts a content. Asks on a terminal for the password, when there is one. */
export async function openContent(
  session: Session,
  content: PasteContent,
  key: SecretKey,
): Promise<ReadableContent> {
  const document = parseSealedText(await content.text());
  const open = (password: string): Promise<Message> => openSealed(document, key, { password });
  const message = await open(presetPassword(session)).catch(async (error: unknown) => {
    if (!(error instanceof WrongKeyError) || session.terminal.stdin.isTTY !== true) throw error;
    return await open(await askForPassword(session));
  });
  const bytes = bytesOf(message, session);
  return { size: bytes.length, stream: new Blob([bytes]).stream() };
}

/** The text, or without a text the one attachment. */
function bytesOf({ text, attachments }: Message, { output }: Session): Uint8Array<ArrayBuffer> {
  const [first, ...others] = attachments;
  if (text === '' && first !== undefined && others.length === 0) return first.bytes;
  if (first !== undefined)
    output.note(
      `Open the paste in a browser for its attachments: ${attachments.map(({ name }) => safeText(name)).join(', ')}`,
    );
  return new TextEncoder().encode(text);
}
