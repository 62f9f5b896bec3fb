import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';

/** The time of all cores of this machine since its start, in ms. */
export interface CoreTime {
  readonly idle: number;
  readonly all: number;
}

export function coreTime(): CoreTime {
  const times = cpus().map(({ times: { user, nice, sys, idle, irq } }) => ({
    idle,
    all: user + nice + sys + idle + irq,
  }));
  const sum = (part: keyof CoreTime): number => times.reduce((total, core) => total + core[part], 0);
  return { idle: sum('idle'), all: sum('all') };
}

/** The idle share of the time since the first reading, from 0 to 1. */
export function idleShare(before: CoreTime): number {
  const now = coreTime();
  return (now.idle - before.idle) / (now.all - before.all);
}

/** The CPU time of these processes since their start, in seconds. Linux only. */
export async function cpuSecondsOf(pids: readonly number[]): Promise<number> {
  const times = await Promise.all(pids.map(ticksOf));
  return times.reduce((sum, { own }) => sum + own, 0) / TICKS_PER_SECOND;
}

/** The CPU time of a process and its children, including children that have ended, in seconds. Linux only. */
export async function cpuSecondsOfFamily(parent: number): Promise<number> {
  const children = await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8');
  const present = children.split(' ').filter(Boolean).map(Number);
  // A child that ends between the two reads is counted by its parent.
  const times = await Promise.all(present.map((pid) => ticksOf(pid).catch(() => ({ own: 0 }))));
  const { own, endedChildren } = await ticksOf(parent);
  return times.reduce((sum, time) => sum + time.own, own + endedChildren) / TICKS_PER_SECOND;
}

async function ticksOf(pid: number): Promise<{ own: number; endedChildren: number }> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // Fields 14 to 17, counted from the end of the name, which may contain blanks: user and system time of the
  // process, and of its ended children.
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number);
  return { own: user + system, endedChildren: childrenUser + childrenSystem };
}

/** USER_HZ, which is 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** The resident memory of a process, in bytes. */
export interface Memory {
  readonly present: number;
  /** The maximum since the start of the process, or since `resetPeakMemory`. */
  readonly peak: number;
}

/** Linux only. */
export async function memoryOf(pid: number): Promise<Memory> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const bytesOf = (name: string): number =>
    Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
  return { present: bytesOf('VmRSS'), peak: bytesOf('VmHWM') };
}

/** Linux only. */
export async function resetPeakMemory(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5');
}
