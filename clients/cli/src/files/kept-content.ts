import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Its owner alone may read it. */
const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

const BLOCK = Buffer.alloc(65_536);

/**
 * The only copy of content that can be read once: a file that stays until somebody removes it. The room on
 * the disk is taken before the content is asked for, so that a full disk or a folder without rights is found
 * while the content is still on the server.
 */
export class KeptContent {
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
