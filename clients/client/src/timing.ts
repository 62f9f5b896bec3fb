/** The maximum of setTimeout, which fires at once for more. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Rejects with the signal's reason as soon as it fires. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      },
      Math.min(ms, MAX_TIMEOUT_MS),
    );
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/**
 * Calls `run` with a signal that fires after `ms`, with `reason()`, or together with `outer`, whichever is
 * first. After `run` has ended, only `outer` fires the signal: the body of a response may be read without a
 * time limit.
 */
export async function withTimeout<T>(
  { ms, reason, outer }: { ms: number; reason: () => Error; outer: AbortSignal | undefined },
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(reason()), Math.min(ms, MAX_TIMEOUT_MS));
  try {
    return await run(outer === undefined ? timeout.signal : AbortSignal.any([outer, timeout.signal]));
  } finally {
    clearTimeout(timer);
  }
}
