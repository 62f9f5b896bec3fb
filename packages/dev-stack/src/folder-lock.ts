import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
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
