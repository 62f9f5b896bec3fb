import { execFileSync, spawnSync } from 'node:child_process';
import { it } from '@jest/globals';

/** Whether the program is installed. CI installs all of them. */
function has(binary: string): boolean {
  return spawnSync(binary, [binary === 'tar' ? '--version' : '-v']).error === undefined;
}

/** A test that needs installed programs. It is skipped when one is missing, and its name then says which. */
export function itWith(binaries: readonly string[]): (name: string, test: () => Promise<void>) => void {
  const missing = binaries.filter((binary) => !has(binary));
  return (name, test) => {
    // oxlint-disable-next-line jest/no-disabled-tests -- the reason is in the name
    if (missing.length > 0) it.skip(`${name} (there is no ${missing.join(' and no ')} here)`, test);
    else it(name, test);
  };
}

export function call(binary: string, args: readonly string[], cwd: string): string {
  return execFileSync(binary, args, { cwd, encoding: 'utf8' });
}
