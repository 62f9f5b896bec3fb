import { randomBytes, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Paste, PasteflowApiError } from '@pasteflow/client';
import type { SecretKey } from '@pasteflow/sealed';
import { contentOfBytes, type ReadableContent } from '../sealed/open-content.ts';
import type { Session } from '../session.ts';
import { toldBefore } from './receipt.ts';
import { folderOf } from '../settings/config-file.ts';

/** What the person has named: `key` is null when the argument had none. */
export interface NamedPaste {
  readonly code: string;
  readonly key: SecretKey | null;
}

/** @returns whether the person has got all of the content */
export type UseContent = (content: ReadableContent) => Promise<boolean>;

/**
 * Reads a paste that is deleted by that. The content is in a file before it is used, and the file stays when
 * the use fails: with a wrong password, a full disk, or a reader of stdout that is gone.
 */
export async function reveal(
  session: Session,
  named: NamedPaste,
  paste: Paste,
  use: UseContent,
): Promise<void> {
  assertOpenable(named, paste);
  const folder = join(folderOf(session.terminal.env, 'XDG_STATE_HOME'), 'revealed');
  session.output.note(await toldBefore(session));
  const kept = await KeptContent.reserve(folder, named.code, paste.size_bytes);
  await receive(session, named, kept, join(folder, `${named.code}.key`));
  let isUsed = false;
  try {
    isUsed = await use(contentOfBytes(await readFile(kept.path)));
  } finally {
    if (!isUsed) for (const line of whereItIs(session, named, kept)) session.output.note(line);
  }
  if (isUsed) await kept.remove();
}

/** What can be known of the key before the content is gone. @throws Error */
function assertOpenable({ key }: NamedPaste, { encrypted }: Paste): void {
  if (encrypted && key === null)
    throw new Error(
      'This paste is encrypted. Name it by its whole URL with the key behind the #, and quote the URL. Nothing was revealed.',
    );
  if (!encrypted && key !== null)
    throw new Error(
      'This paste is not encrypted. Leave out the # and what follows it. Nothing was revealed.',
    );
  if (key !== null) assertCanDecompress();
}

/** @throws Error before Node 20.12 */
function assertCanDecompress(): void {
  try {
    void new DecompressionStream('deflate-raw');
  } catch (cause) {
    throw new Error('Decryption needs Node 20.12 or later. Nothing was revealed.', { cause });
  }
}

/** The server keeps the content for its reader for five minutes. */
const KEY_MS = 300_000;
const REVEAL_WITHIN_MS = 240_000;

/**
 * @param keyPath of a file that keeps the key of the reader until the content has arrived, for another run of
 *   this command
 */
async function receive(
  { client, output, signal }: Session,
  { code }: NamedPaste,
  kept: KeptContent,
  keyPath: string,
): Promise<void> {
  const oldKey = await keptKey(keyPath);
  let tries = oldKey === null ? 0 : 1;
  try {
    const idempotencyKey = oldKey ?? randomUUID();
    if (oldKey === null) await writeFile(keyPath, idempotencyKey, { mode: 0o600, flush: true });
    const { stream } = await client.pastes.reveal(code, {
      idempotencyKey,
      signal,
      timeoutMs: REVEAL_WITHIN_MS,
      retry: { maxTries: Infinity, maxTotalMs: REVEAL_WITHIN_MS },
      onTry: () => (tries += 1),
    });
    await kept.receive(stream);
    await rm(keyPath, { force: true });
  } catch (error) {
    const isCertain = tries === 0 || (tries === 1 && isRefusal(error));
    if (isCertain) await rm(keyPath, { force: true });
    if (kept.received > 0)
      output.note(
        `The server has deleted the paste. The ${kept.received} bytes that have arrived are in ${quoted(kept.path)}, which only you can read. To get the whole content, repeat this command within five minutes of the first try.`,
      );
    else {
      await kept.remove();
      if (!isCertain)
        output.note(
          `The server may have deleted the paste although no content has arrived. To get the content, repeat this command within five minutes of the first try. To see whether the paste was read: pasteflow timeline ${code}`,
        );
    }
    throw error;
  }
}

/** The key of an earlier run that may have revealed the paste; null: there was none within five minutes. */
async function keptKey(path: string): Promise<string | null> {
  try {
    const { mtimeMs, size } = await stat(path);
    return size > 0 && Date.now() - mtimeMs < KEY_MS ? await readFile(path, 'utf8') : null;
  } catch {
    return null;
  }
}

/**
 * Whether the server has certainly revealed nothing, when this was the first try. At the end of the time for
 * an upload a request may be under way.
 */
function isRefusal(error: unknown): boolean {
  return error instanceof PasteflowApiError && error.status < 500;
}

/** The key is in no message: messages end up in logs. */
function whereItIs({ server }: Session, { code, key }: NamedPaste, { path }: KeptContent): readonly string[] {
  const file = quoted(path);
  return [
    `The server has deleted the paste. Its content is in ${file}, which only you can read.`,
    key === null
      ? `Remove the file when you have read it.`
      : `To decrypt the file, put the key in place of KEY: pasteflow cat --from ${file} '${server}/${code}#KEY'`,
  ];
}

/** For a shell. */
function quoted(path: string): string {
  return /^[\w./+-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}

/** Its owner alone may read it. */
const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

const BLOCK = Buffer.alloc(65_536);

/**
 * The only copy of content that can be read once: a file that stays until somebody removes it. The room on
 * the disk is taken before the content is asked for, so that a full disk or a folder without rights is found
 * while the content is still on the server.
 */
class KeptContent {
  /** Of the file, which is called `.part` until all of the content is in it. */
  path: string;
  /** In bytes. */
  received = 0;
  readonly #file: FileHandle;

  private constructor(path: string, file: FileHandle) {
    this.path = path;
    this.#file = file;
  }

  /** @param name how the name of the file begins: a short code, or `~` and a slug @param size in bytes */
  static async reserve(folder: string, name: string, size: number): Promise<KeptContent> {
    await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
    const path = join(folder, `${name}-${randomBytes(4).toString('hex')}.part`);
    const kept = new KeptContent(path, await open(path, 'wx', PRIVATE_FILE));
    try {
      for (let taken = 0; taken < size; taken += BLOCK.length)
        await writeWhole(kept.#file, BLOCK.subarray(0, size - taken), taken);
      await kept.#file.sync();
      return kept;
    } catch (error) {
      await kept.#close();
      await kept.remove();
      throw error;
    }
  }

  /**
   * Writes the content to the disk. When the content breaks off, the file has what has arrived; without any
   * content there is no file.
   */
  async receive(content: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const chunk of content) {
        await writeWhole(this.#file, chunk, this.received);
        this.received += chunk.length;
      }
      await this.#end();
      const complete = this.path.replace(/\.part$/, '');
      await rename(this.path, complete);
      this.path = complete;
    } catch (error) {
      if (this.received > 0) await this.#end();
      throw error;
    }
  }

  async remove(): Promise<void> {
    await this.#close();
    await rm(this.path, { force: true });
  }

  async #end(): Promise<void> {
    await this.#file.truncate(this.received);
    await this.#file.sync();
    await this.#close();
  }

  /** A second call does nothing. */
  async #close(): Promise<void> {
    await this.#file.close();
  }
}

/** Writes all bytes at a position of the file: one write may write a part of them only. */
async function writeWhole(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.length;)
    written += (await file.write(bytes, written, bytes.length - written, position + written)).bytesWritten;
}
