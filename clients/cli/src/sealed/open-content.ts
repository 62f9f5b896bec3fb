import { text } from 'node:stream/consumers';
import type { PasteContent, Deposit } from '@pasteflow/client';
import {
  type Attachment,
  keyOfFragment,
  type Message,
  openSealed,
  parseSealedText,
  type SealedPaste,
  type SecretKey,
  WrongKeyError,
} from '@pasteflow/sealed';
import { fileNameOf } from '@pasteflow/domain';
import { unwrapKey } from '@pasteflow/sealed/wrapped-keys';
import { UsageError } from '../errors.ts';
import type { NamedBytes } from '../files/write-folder.ts';
import type { Session } from '../session.ts';
import { withFragment } from '../settings/named.ts';
import { readSecret } from '../terminal/terminal.ts';
import { isCode } from '../settings/kept-secrets.ts';

/** Content that is at hand: what a download has, too. */
export type ReadableContent = Pick<PasteContent, 'stream' | 'size'>;

/** A decrypted content. */
export interface OpenedContent extends ReadableContent {
  /** Those that are not in the content. */
  readonly attachments: readonly Attachment[];
  /** All that the paste has, by name. Empty when nobody has asked for it. */
  readonly files: readonly NamedBytes[];
}

/** What the content of a paste is: the text alone, or without a text the one attachment. */
type ContentPart = 'text' | 'text or attachment';

/** How often a person is asked for the password of one paste. */
const PASSWORD_TRIES = 3;

export function contentOfBytes(bytes: Uint8Array<ArrayBuffer>): ReadableContent {
  return { size: bytes.length, stream: new Blob([bytes]).stream() };
}

/** The part of an address that selects a file of the page, or lines. */
const LINES = /^#(f\d+|(f\d+-)?L\d+(-L?\d+)?)$/;

/** The key in the argument of a command; null: it has none. @throws UsageError for a damaged key */
export function keyIn(given: string): SecretKey | null {
  const argument = withFragment(given);
  const start = argument.indexOf('#');
  if (start === -1 || LINES.test(argument.slice(start))) return null;
  const key = keyOfFragment(argument.slice(start));
  if (key === null)
    throw new UsageError('The part of the URL after # is not a key. Copy the whole URL, and quote it.');
  return key;
}

/** Decrypts content, and asks a terminal for the password. @throws WrongKeyError */
export async function openContent(
  session: Session,
  content: ReadableContent,
  { key, part }: { readonly key: SecretKey; readonly part: ContentPart },
): Promise<OpenedContent> {
  return contentOfMessage(await open(session, parseSealedText(await text(content.stream)), key), part);
}

async function open(session: Session, document: SealedPaste, key: SecretKey): Promise<Message> {
  for (let asked = 0; ; asked += 1) {
    const password = asked === 0 ? presetPassword(session) : await askForPassword(session);
    try {
      return await openSealed(document, key, { password });
    } catch (error) {
      const canAsk = session.terminal.stdin.isTTY === true && asked < PASSWORD_TRIES;
      if (error instanceof WrongKeyError && password === '' && !canAsk)
        throw new Error(
          `The key is wrong, the paste was changed, or it needs a password: set ${VARIABLE}, or run this on a terminal.`,
          { cause: error },
        );
      if (!(error instanceof WrongKeyError) || !canAsk) throw error;
      if (asked > 0) session.output.note(error.message);
    }
  }
}

function contentOfMessage(message: Message, part: ContentPart): OpenedContent {
  const { attachments } = message;
  const [first, ...others] = attachments;
  const text = new TextEncoder().encode(message.text);
  const hasText = text.length > 0 || first === undefined;
  const textFile = { name: fileNameOf(message.title, 'paste'), bytes: text };
  const files = hasText ? [textFile, ...attachments] : attachments;
  if (part !== 'text' && !hasText && others.length === 0)
    return { ...contentOfBytes(first.bytes), attachments: [], files };
  return { ...contentOfBytes(text), attachments, files };
}

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

export interface OpenedDeposit {
  readonly content: OpenedContent;
  /** Of the paste that the deposit is. */
  readonly key: SecretKey;
}

/** The server names the deposits, and a name becomes the path of a folder. @throws Error */
export function assertNamed({ short_code: code }: Deposit): void {
  if (!isCode(code)) throw new Error(`${JSON.stringify(code)} is not the code of a deposit.`);
}

/** @throws WrongRequestKeyError, WrongKeyError: the key is that of another request, or somebody has changed what is stored */
export async function openDeposit(
  session: Session,
  { short_code: code, wrapped_key: wrapped }: Deposit,
  { id, privatePart }: { readonly id: string; readonly privatePart: string },
): Promise<OpenedDeposit> {
  const key = await unwrapKey(wrapped, id, privatePart);
  const stored = await session.client.pastes.content(code, { signal: session.signal });
  return { key, content: await openContent(session, stored, { key, part: 'text or attachment' }) };
}
