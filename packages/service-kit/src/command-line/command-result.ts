/** What a command prints, and its exit code. */
export interface CommandResult {
  readonly code: number;
  /** The result and nothing else, so that a script can use it. */
  readonly stdout: string;
  readonly stderr: string;
}

export const EXIT_FAILED = 1;

/** sysexits.h: EX_USAGE. */
export const EXIT_USAGE = 64;

export function succeeded(stdout: string, stderr = ''): CommandResult {
  return { code: 0, stdout, stderr };
}

export function failed(code: number, stderr: string): CommandResult {
  return { code, stdout: '', stderr };
}

export function asJson(result: unknown): string {
  return `${JSON.stringify(result, null, 2)}\n`;
}

/**
 * Prints the answer of this process and sets its exit code: 1 when the answer can't be written, for example a
 * new token.
 */
export function printResult({ code, stdout, stderr }: CommandResult): void {
  process.exitCode = code;
  process.stderr.write(stderr);
  process.stdout.write(stdout, (error) => {
    if (error === null || error === undefined) return;
    process.exitCode = EXIT_FAILED;
    process.stderr.write(`The answer could not be written: ${error.message}\n`);
  });
}
