import { spawnSync } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MIB = 1024 * 1024;

/** A file system of a fixed size in memory, which a test can fill. Linux, and root, only. */
export class SmallDisk {
  readonly folder: string;
  readonly #ballast: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.#ballast = join(folder, 'ballast');
  }

  /** @returns null when this user may not mount */
  static async mount(mib: number): Promise<SmallDisk | null> {
    const folder = await mkdtemp(join(tmpdir(), 'pasteflow-small-disk-'));
    const options = ['-t', 'tmpfs', '-o', `size=${mib}m,mode=755`, 'tmpfs', folder];
    if (spawnSync('mount', options).status === 0) return new SmallDisk(folder);
    await rm(folder, { recursive: true });
    return null;
  }

  /** Writes a file until the disk has no room left. */
  async fill(): Promise<void> {
    const file = await open(this.#ballast, 'a');
    try {
      // Large pieces first. Then single pages, so that not one remains.
      for (const size of [MIB, 4096]) await writeUntilFull(file, Buffer.alloc(size, 1));
    } finally {
      await file.close();
    }
  }

  /** Removes the file of `fill`. */
  async empty(): Promise<void> {
    await rm(this.#ballast, { force: true });
  }

  async unmount(): Promise<void> {
    spawnSync('umount', ['--lazy', this.folder]);
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function writeUntilFull(file: Awaited<ReturnType<typeof open>>, piece: Buffer): Promise<void> {
  for (;;) {
    try {
      const { bytesWritten } = await file.write(piece);
      if (bytesWritten < piece.length) return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return;
      throw error;
    }
  }
}
