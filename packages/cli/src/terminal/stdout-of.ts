import { fstatSync, writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import type { Terminal } from './terminal.ts';

/**
 * stdout of a process. Node writes a chunk to a file with one call, and ignores how much of the chunk a full disk has taken: the end of a
 * content would be missing, with exit code 0. Here a full disk is an error.
 */
export function stdoutOf({ stdout }: NodeJS.Process): Terminal['stdout'] {
  return fstatSync(stdout.fd).isFile() ? fileOf(stdout.fd) : stdout;
}

function fileOf(fd: number): Writable {
  return new Writable({
    decodeStrings: true,
    write: (chunk: Buffer, _encoding, done) => {
      try {
        for (let written = 0; written < chunk.length;) written += writeSync(fd, chunk, written);
        done();
      } catch (error) {
        done(error as Error);
      }
    },
  });
}
