import { fromBase64, toBase64 } from './keys.ts';

/** What only the writer and the readers with the key know. */
export interface Message {
  readonly text: string;
  /** For a file that is no text, and for what other clients attach. */
  readonly attachments: readonly Attachment[];
  readonly title: string | null;
  readonly syntax: string | null;
}

export interface Attachment {
  /** As its writer has named it: hostile. */
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** null: its writer has chosen none, as those of other clients. */
  readonly syntax: string | null;
}

/**
 * PrivateBin's fields are `paste`, `attachment` and `attachment_name`. `title`, `syntax` and `attachment_syntax` are
 * our own: its clients ignore them. One attachment is no list, because PBinCLI and PrivateBin before version 2 know no
 * lists.
 */
export function encodeMessage({ text, attachments, title, syntax }: Message): string {
  const urls = attachments.map(({ bytes }) => `data:application/octet-stream;base64,${toBase64(bytes)}`);
  const names = attachments.map(({ name }) => name);
  const syntaxes = attachments.map((each) => each.syntax);
  const isOne = attachments.length === 1;
  return JSON.stringify({
    paste: text,
    ...(attachments.length > 0 && {
      attachment: isOne ? urls[0] : urls,
      attachment_name: isOne ? names[0] : names,
    }),
    ...(syntaxes.some((each) => each !== null) && { attachment_syntax: syntaxes }),
    ...(title !== null && { title }),
    ...(syntax !== null && { syntax }),
  });
}

/** A small paste unpacks to millions of empty ones, with which no page and no folder ends. */
const MAX_ATTACHMENTS = 1000;

/** @throws Error for a message that no client of the format writes, and for one with too many attachments */
export function decodeMessage(json: string): Message {
  const fields = JSON.parse(json) as Readonly<Record<string, unknown>> | null;
  const { paste = '', attachment, attachment_name, attachment_syntax, title, syntax } = fields ?? {};
  if (typeof paste !== 'string') throw new Error('The message of the paste has no text.');
  const urls = listOf(attachment);
  if (urls.length > MAX_ATTACHMENTS)
    throw new Error(`The paste has more than ${MAX_ATTACHMENTS} attachments, and is not opened.`);
  const names = listOf(attachment_name);
  const syntaxes = listOf(attachment_syntax);
  return {
    text: paste,
    attachments: urls.flatMap((url, i) =>
      isText(url)
        ? [
            {
              name: textOrNull(names[i]) ?? 'attachment',
              bytes: bytesOfDataUrl(url),
              syntax: textOrNull(syntaxes[i]),
            },
          ]
        : [],
    ),
    title: textOrNull(title),
    syntax: textOrNull(syntax),
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function textOrNull(value: unknown): string | null {
  return isText(value) ? value : null;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** Some browsers write an empty file as `data:`, without a comma. */
function bytesOfDataUrl(url: string): Uint8Array<ArrayBuffer> {
  const comma = url.indexOf(',');
  return comma === -1 && url.startsWith('data:') ? new Uint8Array() : fromBase64(url.slice(comma + 1));
}

/** A file with what its writer says of it. */
interface FileToSeal extends Attachment {
  readonly title: string | null;
}

/** A file of text becomes the text, and any other file an attachment. */
function messageOfFile({ bytes, name, title, syntax }: FileToSeal): Message {
  const text = textOf(bytes);
  if (text !== null) return { text, attachments: [], title, syntax };
  return { text: '', attachments: [{ name, bytes, syntax: null }], title, syntax };
}

/**
 * Several files become attachments, also those of text, in their order: PrivateBin's page offers them so, and the
 * message has no other place for their names. One file is as `messageOfFile` writes it.
 */
export function messageOfFiles(files: readonly Attachment[], title: string | null): Message {
  const [only] = files;
  if (only !== undefined && files.length === 1) return messageOfFile({ ...only, title });
  return { text: '', attachments: files, title, syntax: null };
}

/**
 * null for bytes that are not UTF-8. A byte order mark stays: what is read has the same bytes as the file.
 */
function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
