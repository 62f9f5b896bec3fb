import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { startPostgres, type Postgres } from '@pasteflow/dev-stack';
import { Client } from 'pg';

/**
 * Copies an embedded Postgres while it works, by its own protocol for base backups, which pg_basebackup and RDS follow too: from
 * pg_backup_start on it can be copied file by file in any order, and what the log holds by pg_backup_stop makes the copy whole.
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

/** A server of its own on what was backed up there. */
export async function restorePostgres(folder: string): Promise<Postgres> {
  return await startPostgres({ dataDir: folder, fsync: false });
}

/** Of the server that runs, not of its data; and the log, which is copied last. */
const NOT_COPIED = new Set(['postmaster.pid', 'postmaster.opts', 'pg_wal']);

/** What goes away meanwhile is not missed: the log knows. */
async function copyFolder(
  from: string,
  to: string,
  wanted: (name: string) => boolean = () => true,
): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (!wanted(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyFolder(source, target);
    else await copyFile(source, target).catch(unlessGone);
  }
}

function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
