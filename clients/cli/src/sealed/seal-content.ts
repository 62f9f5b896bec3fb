import { basename } from 'node:path';
import type { Content } from '@pasteflow/client';
import { fragmentOfKey, MAX_MESSAGE_BYTES, messageOfFile, seal, textOfSealed } from '@pasteflow/sealed';
import type { ContentSource } from '../files/content-source.ts';

export interface SealContentOptions {
  /** As on the command line. */
  readonly file: string;
  readonly title: string | null;
  readonly syntax: string | null;
  /** Empty: none. */
  readonly password: string;
  /** Readers learn from the document that it can be read once. */
  readonly burn: boolean;
}

/**
 * Encrypts the content of a new paste.
 * @returns what is sent, and the part of the link behind `#`
 * @throws Error for content that no reader would decrypt, because it is too large
 */
export async function sealContent(
  { content, size }: Pick<ContentSource, 'content' | 'size'>,
  { file, title, syntax, password, burn }: SealContentOptions,
): Promise<{ readonly content: string; readonly fragment: string }> {
  if (size === 0) throw new Error('There is nothing to encrypt: the content is empty.');
  if (size > MAX_MESSAGE_BYTES / 2) throw new Error('Content of more than 32 MiB can not be encrypted.');
  const name = file === '-' ? 'attachment' : basename(file);
  const message = messageOfFile({ bytes: await bytesOf(content), name, title, syntax });
  const { document, key } = await seal(message, { password, burn });
  return { content: textOfSealed(document), fragment: fragmentOfKey(key) };
}

async function bytesOf(content: Content): Promise<Uint8Array<ArrayBuffer>> {
  const body = typeof content === 'function' ? await content() : content;
  const response = new Response(body instanceof Uint8Array ? new Blob([Uint8Array.from(body)]) : body);
  return new Uint8Array(await response.arrayBuffer());
}
