import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Ends a postmaster that outlived the process which started it, and removes a postmaster.pid that nobody owns. The
 * caller holds the lock of the data folder: so whatever still runs here has lost its owner. A pid from before a
 * reboot may belong to any program by now, hence the look at its command line; Postgres itself would refuse to start.
 */
export async function stopOrphan(clusterDir: string): Promise<void> {
  const pidFile = join(clusterDir, 'postmaster.pid');
  const pid = readPid(pidFile);
  if (pid === undefined) return;
  if (isPostmasterOf(pid, clusterDir)) {
    // INT is a fast, clean shutdown; QUIT, after 20 s, leaves the rest to crash recovery.
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

/** Empty for a process that is gone, and for a zombie. */
function commandLine(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
  return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
}
