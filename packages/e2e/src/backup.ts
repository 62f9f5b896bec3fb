import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { startPostgres, type Postgres } from '@pasteflow/dev-stack';
import { Client } from 'pg';

/**
 * Copies an embedded Postgres while it runs, as pg_basebackup does: after pg_backup_start the files can be
 * copied in any order, and the WAL up to pg_backup_stop makes the copy consistent.
 */
export async function backUpPostgres(databaseUrl: string, folder: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
    const from = rows[0]?.data_directory ?? '';
    const to = join(folder, 'cluster');
    await client.query(`SELECT pg_backup_start('e2e', fast => true)`);
    await copyFolder(from, to, (name) => !NOT_COPIED.has(name));
    const stopped = await client.query<{ labelfile: string }>(
      'SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)',
    );
    await writeFile(join(to, 'backup_label'), stopped.rows[0]?.labelfile ?? '');
    await copyFolder(join(from, 'pg_wal'), join(to, 'pg_wal'));
    await copyFile(join(dirname(from), 'password'), join(folder, 'password'));
  } finally {
    await client.end();
  }
}

/** Starts a server on the backup in `folder`. */
export async function restorePostgres(folder: string): Promise<Postgres> {
  return await startPostgres({ dataDir: folder, fsync: false });
}

/** Files of the running server, and the WAL, which is copied last. */
const NOT_COPIED = new Set(['postmaster.pid', 'postmaster.opts', 'pg_wal']);

/** Files that disappear during the copy are not needed: the WAL has their content. */
async function copyFolder(
  from: string,
  to: string,
  isIncluded: (name: string) => boolean = () => true,
): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (!isIncluded(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyFolder(source, target);
    else await copyFile(source, target).catch(unlessMissing);
  }
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
