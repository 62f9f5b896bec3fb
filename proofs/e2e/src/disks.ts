import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SpawnedProcess, spawnProgram } from '@pasteflow/dev-stack/testing';

const NEEDS =
  'This proof needs /dev/fuse, the right to mount, and the program lazyfs in PATH. ' +
  'Build it as https://github.com/dsrhaslab/lazyfs says.';

/**
 * A disk that loses what was not synced when its machine loses its power. LazyFS keeps written data in its
 * own memory until fsync. Names of files (create, rename, remove) are kept at once.
 */
export class ForgetfulDisk {
  readonly folder: string;
  readonly #parent: string;
  #lazyfs: SpawnedProcess;

  private constructor(parent: string, lazyfs: SpawnedProcess) {
    this.#parent = parent;
    this.folder = join(parent, 'disk');
    this.#lazyfs = lazyfs;
  }

  /** Rejects when LazyFS is missing or this user may not mount. */
  static async mount(): Promise<ForgetfulDisk> {
    const parent = await mkdtemp(join(tmpdir(), 'pasteflow-forgetful-disk-'));
    await Promise.all([mkdir(join(parent, 'disk')), mkdir(join(parent, 'kept'))]);
    await writeFile(
      join(parent, 'lazyfs.toml'),
      `[faults]
fifo_path="${join(parent, 'fifo')}"
[cache]
apply_eviction=false
[cache.simple]
custom_size="0.25GB"
blocks_per_page=1
[filesystem]
log_all_operations=false
logfile=""
`,
    );
    try {
      return new ForgetfulDisk(parent, await startLazyfs(parent));
    } catch (cause) {
      await rm(parent, { recursive: true });
      throw new Error(NEEDS, { cause });
    }
  }

  /** Syncs every file. */
  sync(): void {
    spawnSync('find', [this.folder, '-type', 'f', '-exec', 'sync', '{}', '+']);
  }

  /** Loses what was not synced, at one instant for all processes. Their open files fail from then on. */
  async losePower(): Promise<void> {
    this.#lazyfs.kill('SIGKILL');
    await this.#lazyfs.exited;
  }

  /** Mounts what was kept. */
  async mountAgain(): Promise<void> {
    spawnSync('fusermount3', ['-u', '-z', this.folder]);
    this.#lazyfs = await startLazyfs(this.#parent);
  }

  async unmount(): Promise<void> {
    await this.losePower();
    spawnSync('fusermount3', ['-u', '-z', this.folder]);
    await rm(this.#parent, { recursive: true, force: true });
  }
}

/** -s: LazyFS serves one call at a time, because its cache is a prototype. -f: in the foreground. */
async function startLazyfs(parent: string): Promise<SpawnedProcess> {
  const options = ['--config-path', join(parent, 'lazyfs.toml'), '-s', '-f'];
  const kept = ['-o', 'modules=subdir', '-o', `subdir=${join(parent, 'kept')}`];
  const lazyfs = spawnProgram(['lazyfs', join(parent, 'disk'), ...options, ...kept]);
  await lazyfs.waitFor(/waiting for fault commands/);
  return lazyfs;
}

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
