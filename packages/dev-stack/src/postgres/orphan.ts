import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Stops a postmaster that outlived the process that started it, and removes its postmaster.pid. The caller
 * holds the lock of the data folder, so a postmaster that still runs there has no owner. The command line of
 * the process is checked, because a pid from before a reboot may now belong to any program, and Postgres
 * itself would refuse to start.
 */
export async function stopOrphan(clusterDir: string): Promise<void> {
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
