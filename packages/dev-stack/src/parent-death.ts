import { spawnSync } from 'node:child_process';

/**
 * A command prefix with which a child process gets `signal` when this process dies, by kill -9 too. Linux only, by
 * util-linux's setpriv; elsewhere it is empty, and a killed parent leaves its children behind. An absolute path: the
 * child's PATH may be another.
 */
export function onParentDeath(signal: 'INT' | 'TERM' | 'KILL'): string[] {
  if (process.platform !== 'linux') return [];
  // busybox has a setpriv that doesn't know the option, hence the try.
  const { status, stdout } = spawnSync('sh', ['-c', 'command -v setpriv && setpriv --pdeathsig KILL true']);
  return status === 0 ? [stdout.toString().trim(), '--pdeathsig', signal] : [];
}
