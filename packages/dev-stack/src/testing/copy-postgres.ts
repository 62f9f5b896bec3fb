import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from 'pg';

/**
 * Copies the files of an embedded Postgres while it runs into `dataDir`, as pg_basebackup does: between
 * pg_backup_start and pg_backup_stop files can be copied in any order, and the WAL until then makes the copy
 * consistent.
 */
export async function copyRunningPostgres(databaseUrl: string, dataDir: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ dir: string }>(`SELECT current_setting('data_directory') AS dir`);
    const original = rows[0]?.dir ?? '';
    const copy = join(dataDir, 'cluster');
    await client.query(`SELECT pg_backup_start('test', fast => true)`);
    // A file that Postgres removes meanwhile makes cp end with 1, and is not needed.
    spawnSync('cp', ['-a', original, join(dirname(original), 'password'), dataDir]);
    const stopped = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
    rmSync(join(copy, 'pg_wal'), { recursive: true });
    spawnSync('cp', ['-a', join(original, 'pg_wal'), copy]);
    writeFileSync(join(copy, 'backup_label'), stopped.rows[0]?.labelfile ?? '');
    rmSync(join(copy, 'postmaster.pid'), { force: true });
  } finally {
    await client.end();
  }
}
