import { readFile } from 'node:fs/promises';

/** What this machine's cores did since it started, all of them together, in ticks. Linux only. */
export interface CoreTime {
  readonly idle: number;
  readonly all: number;
}

export async function coreTime(): Promise<CoreTime> {
  const [line = ''] = (await readFile('/proc/stat', 'utf8')).split('\n');
  const [user = 0, nice = 0, system = 0, idle = 0, ioWait = 0, ...rest] = line
    .split(/\s+/)
    .slice(1)
    .map(Number);
  // Guests are in `user` already; interrupts and what the hypervisor took are the next three.
  const others = rest.slice(0, 3).reduce((sum, ticks) => sum + ticks, 0);
  return { idle: idle + ioWait, all: user + nice + system + idle + ioWait + others };
}

/** Which part of the time between the two the cores had nothing to do, 0 to 1. */
export function idleShare(before: CoreTime, after: CoreTime): number {
  return (after.idle - before.idle) / (after.all - before.all);
}

/** What these processes have computed since they began, all together, in seconds. Linux only. */
export async function computed(pids: readonly number[]): Promise<number> {
  const ticks = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
      // Behind the name, which may have blanks in it; user and system time are the 14th and 15th fields.
      const [user = 0, system = 0] = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11, 13)
        .map(Number);
      return user + system;
    }),
  );
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND;
}

/** USER_HZ, which is 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;
