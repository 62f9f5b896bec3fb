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
}

/**
 * PrivateBin's fields are `paste`, `attachment` and `attachment_name`. `title` and `syntax` are our own: its
 * clients ignore them. One attachment is no list, because PBinCLI and PrivateBin before version 2 know no
 * lists.
 */
export function encodeMessage({ text, attachments, title, syntax }: Message): string {
  const urls = attachments.map(({ bytes }) => `data:application/octet-stream;base64,${toBase64(bytes)}`);
  const names = attachments.map(({ name }) => name);
  const isOne = attachments.length === 1;
  return JSON.stringify({
    paste: text,
    ...(attachments.length > 0 && {
      attachment: isOne ? urls[0] : urls,
      attachment_name: isOne ? names[0] : names,
    }),
    ...(title !== null && { title }),
    ...(syntax !== null && { syntax }),
  });
}

/** @throws Error for a message that no client of the format writes */
export function decodeMessage(json: string): Message {
  const fields = JSON.parse(json) as Readonly<Record<string, unknown>> | null;
  const { paste = '', attachment, attachment_name: names, title, syntax } = fields ?? {};
  if (typeof paste !== 'string') throw new Error('The message of the paste has no text.');
  const nameList = listOf(names);
  return {
    text: paste,
    attachments: listOf(attachment).flatMap((url, i) =>
      isText(url)
        ? [{ name: isText(nameList[i]) ? nameList[i] : 'attachment', bytes: bytesOfDataUrl(url) }]
        : [],
    ),
    title: isText(title) ? title : null,
    syntax: isText(syntax) ? syntax : null,
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

function bytesOfDataUrl(url: string): Uint8Array<ArrayBuffer> {
  return fromBase64(url.slice(url.indexOf(',') + 1));
}

/** A file with what its writer says of it. */
export interface FileToSeal {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** For a file that is no text. */
  readonly name: string;
  readonly title: string | null;
  readonly syntax: string | null;
}

/** A file of text becomes the text, and any other file an attachment. */
export function messageOfFile({ bytes, name, title, syntax }: FileToSeal): Message {
  const text = textOf(bytes);
  if (text !== null) return { text, attachments: [], title, syntax };
  return { text: '', attachments: [{ name, bytes }], title, syntax };
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
