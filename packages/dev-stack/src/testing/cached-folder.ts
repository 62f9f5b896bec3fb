import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockFolder, type FolderLock } from '../folder-lock.ts';
import { StackError } from '../stack-error.ts';

const MADE_WITHIN_MS = 120_000;

export interface Cache {
  readonly path: string;
  /** Older folders are removed when a new one is made. Tests of another version may use younger ones. */
  readonly keptMs: number;
}

/**
 * Returns the folder `key` in the cache. The first caller makes the folder with `make`; callers in other
 * processes wait. When `make` fails or its process is killed, the next caller starts again.
 */
export async function cachedFolder(
  cache: Cache,
  key: string,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = join(cache.path, key);
  if (existsSync(folder)) return folder;
  const lock = await waitForLock(join(cache.path, 'making'));
  try {
    if (existsSync(folder)) return folder;
    removeOldFolders(cache);
    const making = join(cache.path, 'half-made');
    rmSync(making, { recursive: true, force: true });
    mkdirSync(making);
    await make(making);
    renameSync(making, folder);
    return folder;
  } finally {
    lock.release();
  }
}

async function waitForLock(folder: string): Promise<FolderLock> {
  const deadline = performance.now() + MADE_WITHIN_MS;
  for (;;) {
    try {
      return lockFolder(folder);
    } catch (error) {
      const isHeld = error instanceof StackError && error.code === 'data-folder-in-use';
      if (!isHeld || performance.now() > deadline) throw error;
      await sleep(50);
    }
  }
}

function removeOldFolders({ path, keptMs }: Cache): void {
  for (const name of readdirSync(path).filter((each) => each !== 'making')) {
    const folder = join(path, name);
    if (Date.now() - statSync(folder).mtimeMs > keptMs) rmSync(folder, { recursive: true, force: true });
  }
}
