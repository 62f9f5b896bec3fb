import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { Client } from 'pg';
import { startPostgres } from '../postgres/start-postgres.ts';
import { temporaryFolder } from './test-stack.ts';

/**
 * A Postgres that follows the one of a test stack, with the same roles and passwords. It answers reads until
 * it is promoted.
 */
export interface Standby {
  readonly port: number;
  /** Resolves when the server accepts writes. */
  promote(): Promise<void>;
  /** Stops the server and removes its files. */
  stop(): Promise<void>;
}

/**
 * Starts a standby, to which the Postgres at this URL of its superuser replicates synchronously from then on:
 * a commit is answered when the standby has it. Streams since the beginning of the copy, whose WAL the first
 * server still has.
 */
export async function startStandby(primaryUrl: string): Promise<Standby> {
  const url = new URL(primaryUrl);
  const client = new Client({ connectionString: url.href });
  await client.connect();
  try {
    const { dataDir, remove } = await temporaryFolder();
    await copyRunningPostgres(url.href, dataDir);
    const cluster = join(dataDir, 'cluster');
    writeFileSync(join(cluster, 'standby.signal'), '');
    appendFileSync(
      join(cluster, 'postgresql.auto.conf'),
      `primary_conninfo = 'host=127.0.0.1 port=${url.port} user=${url.username} password=${url.password}'\n`,
    );
    const server = await startPostgres({
      dataDir,
      fsync: false,
      // oxlint-disable-next-line node/no-process-env -- selects the major version for a run of all tests
      binariesFrom: process.env.TEST_POSTGRES_FROM,
    });
    await replicateSynchronously(client, url);
    return {
      port: server.port,
      promote: () => promote(server.url),
      stop: async () => {
        await server.stop();
        await remove();
      },
    };
  } finally {
    await client.end();
  }
}

/**
 * Resolves when every commit waits for the standby. The processes of Postgres read a new setting one by one,
 * and commits wait only after the checkpointer has read it. A commit that waits for a standby that does not
 * exist shows that it has.
 */
async function replicateSynchronously(client: Client, url: URL): Promise<void> {
  const setStandbys = async (names: string): Promise<void> => {
    await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await client.query('SELECT pg_reload_conf()');
  };
  const committer = new Client({ connectionString: url.href });
  await committer.connect();
  try {
    await setStandbys('absent');
    let commit: Promise<unknown> | undefined;
    while (!(await doesAnyCommitWait(client)))
      commit ??= committer
        .query(`SELECT pg_logical_emit_message(true, 'test', 'a commit')`)
        .finally(() => (commit = undefined));
    await setStandbys('*');
    while (!(await isFollowed(client)));
    await commit;
  } finally {
    await committer.end();
  }
}

async function doesAnyCommitWait(client: Client): Promise<boolean> {
  const { rows } = await client.query(`SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`);
  return rows.length > 0;
}

async function isFollowed(client: Client): Promise<boolean> {
  const { rows } = await client.query(`SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`);
  return rows.length > 0;
}

async function promote(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('SELECT pg_promote()');
  await client.query(`ALTER SYSTEM RESET synchronous_standby_names`);
  await client.query('SELECT pg_reload_conf()');
  await client.end();
}

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
