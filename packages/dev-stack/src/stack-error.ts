/** The closed list of reasons why the embedded stack cannot run. */
export type StackErrorCode =
  | 'configuration'
  | 'data-folder-in-use'
  | 'data-folder-unusable'
  | 'data-folder-version'
  | 'port-in-use'
  | 'port-unusable'
  | 'postgres-unavailable'
  | 'postgres-failed'
  | 'aws-emulator-failed'
  | 'migrations-failed'
  | 'service-failed';

/**
 * An error that the user can correct. The message says what is wrong and what to do; entry points print only
 * the message.
 */
export class StackError extends Error {
  readonly code: StackErrorCode;

  constructor(code: StackErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StackError';
    this.code = code;
  }
}

/** Prints a line for the user at the terminal. */
export type Report = (line: string) => void;

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs an entry point until a stop signal. The first signal aborts `stop`; further signals are ignored, so a
 * second Ctrl-C cannot interrupt the shutdown. A StackError is printed without its stack, since the user can
 * correct its cause; any other error is a bug and is printed with its stack. Both set exit code 1.
 */
export async function runMain(main: (stop: AbortSignal) => Promise<void>): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {}); // a full log, a reader that is gone
  const stop = new AbortController();
  for (const signal of STOP_SIGNALS) process.on(signal, () => stop.abort());
  try {
    await main(stop.signal);
  } catch (error) {
    const text = error instanceof StackError ? error.message : String((error as Error).stack ?? error);
    process.stderr.write(`${text}\n`);
    process.exitCode = 1;
  } finally {
    for (const signal of STOP_SIGNALS) process.removeAllListeners(signal);
  }
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
