import { StackError } from './stack-error.ts';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs an entry point that works until it is told to stop: `stop` is aborted at the first of the signals, and more of
 * them change nothing, so a second Ctrl-C can't cut the orderly end short. What people can act on is printed as one
 * sentence, exit code 1; anything else is a mistake of ours and keeps its stack.
 */
export async function runMain(main: (stop: AbortSignal) => Promise<void>): Promise<void> {
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
