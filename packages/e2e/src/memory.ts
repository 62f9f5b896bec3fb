import { readFile, writeFile } from 'node:fs/promises';

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
