import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { StackError } from './stack-error.ts';

export interface FolderLock {
  release(): void;
}

// Keeps each DatabaseSync from garbage collection, which would close its file and release the lock.
const held = new Set<DatabaseSync>();

/**
 * Makes this process the only user of `dir`, which is created if missing. The lock is SQLite's lock on the
 * file `lock`, which belongs to the operating system and ends with the process, even after kill -9. Unlike a
 * pid file it cannot become stale, and no race decides who replaces a stale one. Child processes do not
 * inherit it.
 * @throws StackError `data-folder-in-use` with the pid of the process that has the lock
 */
export function lockFolder(dir: string): FolderLock {
  try {
    mkdirSync(dir, { recursive: true });
  } catch (cause) {
    throw unusable(dir, cause);
  }
  // The pid is in a separate file, because other processes cannot read the file that SQLite has locked.
  const owner = join(dir, 'owner');
  const db = openLockFile(dir);
  try {
    db.exec('BEGIN EXCLUSIVE');
    writeFileSync(owner, `process ${process.pid}, since ${new Date().toISOString()}\n`);
  } catch (cause) {
    db.close();
    if ((cause as { errcode?: number }).errcode !== SQLITE_BUSY) throw unusable(dir, cause);
    throw new StackError(
      'data-folder-in-use',
      `The data folder ${dir} is in use by ${ownerOf(owner)}. Stop that process, or set PASTEFLOW_DATA_DIR to another folder.`,
      { cause },
    );
  }
  held.add(db);
  return {
    release: () => {
      if (held.delete(db)) db.close();
    },
  };
}

const SQLITE_BUSY = 5;

function openLockFile(dir: string): DatabaseSync {
  try {
    return new DatabaseSync(join(dir, 'lock'));
  } catch (cause) {
    throw unusable(dir, cause);
  }
}

function unusable(dir: string, cause: unknown): StackError {
  return new StackError(
    'data-folder-unusable',
    `The data folder ${dir} is not writable (${(cause as Error).message}). Make it writable, or set PASTEFLOW_DATA_DIR to another folder.`,
    { cause },
  );
}

function ownerOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim() || 'another process';
  } catch {
    return 'another process';
  }
}

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
