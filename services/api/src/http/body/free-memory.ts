import { types } from 'node:util';

/**
 * Frees the memory of bytes that nobody reads again. The garbage collector would free them too, but it waits for 64 MiB of them: a process
 * that received four bodies of 500 MB took 165 to 170 MiB instead of 71, and 1.8 s of CPU time instead of 1.0. Afterwards the length of
 * the bytes is 0.
 *
 * Bytes that share their memory with others are left to the garbage collector: short buffers come from a pool of Node's.
 */
export function freeMemory({ buffer, byteLength }: Buffer): void {
  if (byteLength > 0 && byteLength === buffer.byteLength && types.isArrayBuffer(buffer)) buffer.transfer(0);
}
