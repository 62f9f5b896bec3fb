import type { Message } from './message.ts';

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

/** null for bytes that are not UTF-8. A byte order mark stays: what is read has the same bytes as the file. */
function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
