import type { FileHandle } from 'node:fs/promises';

/** Writes all bytes at a position of the file: one write may write a part of them only. */
export async function writeWhole(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.length;)
    written += (await file.write(bytes, written, bytes.length - written, position + written)).bytesWritten;
}
