import { existsSync, globSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Debian's package faketime. */
const [LIBRARY] = globSync('/usr/lib/*/faketime/libfaketime.so.1');

/** `npm test` needs only Node: tests with libfaketime are skipped where it is missing, but not in CI. */
export function isLibfaketimeRequired(): boolean {
  // oxlint-disable-next-line node/no-process-env -- CI systems set this variable
  return Boolean(process.env.CI) || LIBRARY !== undefined;
}

/** A clock that processes see instead of the clock of this machine, and that a test can set at any time. */
export class WrongClock {
  readonly #folder: string;
  #aheadMs = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async make(aheadMs: number): Promise<WrongClock> {
    if (LIBRARY === undefined) throw new Error('libfaketime is missing: apt-get install faketime');
    const clock = new WrongClock(await mkdtemp(join(tmpdir(), 'pasteflow-wrong-clock-')));
    await clock.set(aheadMs);
    return clock;
  }

  /** For a process that is to see this clock. Its timers count the time that really passes. */
  get env(): Record<string, string> {
    return {
      LD_PRELOAD: LIBRARY ?? '',
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DISABLE_SHM: '1',
    };
  }

  /** Processes see the change within moments. @param aheadMs of this machine's clock */
  async set(aheadMs: number): Promise<void> {
    this.#aheadMs = aheadMs;
    const seconds = aheadMs / 1000;
    await writeFile(`${this.#file}.new`, `${seconds < 0 ? '' : '+'}${seconds}s`);
    await rename(`${this.#file}.new`, this.#file); // a process never reads a part of the file
  }

  /** Whether the process that listens at this URL sees the clock as it was set. */
  async isSeenBy(url: string): Promise<boolean> {
    const date = (await fetch(url)).headers.get('date') ?? '';
    return Math.abs(Date.parse(date) - Date.now() - this.#aheadMs) < 5 * 60_000;
  }

  /** Once the processes have ended. Debian's libfaketime leaves files of a killed process in shared memory. */
  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true });
    for (const file of globSync('/dev/shm/*faketime_s*_*'))
      if (!existsSync(`/proc/${file.split('_').at(-1)}`)) await rm(file, { force: true });
  }

  get #file(): string {
    return join(this.#folder, 'ahead');
  }
}
