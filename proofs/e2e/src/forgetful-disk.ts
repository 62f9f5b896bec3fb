import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnProgram, type SpawnedProcess } from '@pasteflow/dev-stack/testing';

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
