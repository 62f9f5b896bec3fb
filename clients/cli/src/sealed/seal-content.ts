import {
  type Attachment,
  MAX_MESSAGE_BYTES,
  messageOfFiles,
  seal,
  type SecretKey,
  textOfSealed,
} from '@pasteflow/sealed';
import { UsageError } from '../errors.ts';
import type { Session } from '../session.ts';
import { askForPassword, presetPassword } from './open-content.ts';

/** How the content is encrypted. */
export interface Encryption {
  /** Empty: none. */
  readonly password: string;
  /** Readers learn from the document that it can be read once. */
  readonly burn: boolean;
}

/** @returns null: the paste is not encrypted. @throws UsageError */
export async function encryptionOf(
  session: Session,
  {
    encrypt = false,
    password = false,
    burn = false,
  }: { readonly encrypt?: boolean; readonly password?: boolean; readonly burn?: boolean },
): Promise<Encryption | null> {
  if (password && !encrypt)
    throw new UsageError('--password is for a paste that is encrypted: add --encrypt or --secret.');
  if (!encrypt) return null;
  // Without --password a variable that is left over must not lock the readers out.
  return { burn, password: password ? presetPassword(session) || (await askForPassword(session)) : '' };
}

/**
 * Encrypts the files of a new paste with their title, which the server must not learn.
 * @returns what is sent, and its key
 * @throws Error for content that no reader would decrypt, because it is too large
 */
export async function sealFiles(
  files: readonly Attachment[],
  title: string | null,
  { password, burn }: Encryption,
): Promise<{ readonly content: string; readonly key: SecretKey }> {
  const size = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (size === 0) throw new Error('There is nothing to encrypt: the content is empty.');
  if (size > MAX_MESSAGE_BYTES / 2) throw new Error('Content of more than 32 MiB can not be encrypted.');
  const { document, key } = await seal(messageOfFiles(files, title), { password, burn });
  return { content: textOfSealed(document), key };
}
