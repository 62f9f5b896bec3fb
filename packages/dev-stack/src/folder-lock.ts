import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StackError } from './stack-error.ts';

export interface FolderLock {
  release(): void;
}

// A DatabaseSync that is garbage collected closes its file, and the lock would be gone with it.
const held = new Set<DatabaseSync>();

/**
 * Makes this process the only user of `dir`, which is created if missing; throws StackError `data-folder-in-use`
 * with the pid of the process that has it. The lock is SQLite's lock on the file `lock`, that is the operating
 * system's: it ends with the process, however that dies, so there is no stale lock and no race to take one over,
 * as there would be with a pid file. Processes started from here don't inherit it.
 */
export function lockFolder(dir: string): FolderLock {
  try {
    mkdirSync(dir, { recursive: true });
  } catch (cause) {
    throw unusable(dir, cause);
  }
  // The pid is in a file of its own: SQLite's lock keeps other processes from reading the locked one.
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
      `The data folder ${dir} is in use by ${ownerOf(owner)}: stop that first, or set PASTEFLOW_DATA_DIR to another folder.`,
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
    `The data folder ${dir} can't be written to (${(cause as Error).message}): make it writable, or set PASTEFLOW_DATA_DIR to another folder.`,
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
