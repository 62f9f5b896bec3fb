import { Readiness } from '../health/readiness.ts';
import { Metrics } from '../metrics.ts';
import {
  openEntry,
  reportFatal,
  type Entry,
  type EntryConfig,
  type EntryOptions,
  type OpenEntry,
} from './entry.ts';
import type { ProcessLogger } from '../logging/logger.ts';
import { outliveOutput } from '../logging/lossy-output.ts';
import { Lifecycle, type Component } from '../lifecycle.ts';

/** The argument of a service's compose function. */
export interface ServiceContext<Config> extends Entry<Config> {
  readonly metrics: Metrics;
  /** Follows the lifecycle; compose adds the checks. */
  readonly readiness: Readiness;
  /**
   * Stops the service because of an error. The exit code is that of the error: 78 for a ConfigError,
   * otherwise 1.
   */
  readonly fail: (error: unknown) => void;
}

/** Orchestrators commonly send SIGKILL 30 s after SIGTERM, some 10 s after it. */
const STOP_TIMEOUT_MS = 10_000;

/**
 * The maximum time for the last spans, within the rest of the stop timeout: a collector that does not answer
 * must not make the stop fail.
 */
const LAST_SPANS_MS = 1000;
const SPARE_MS = 100;

/**
 * Runs a service until SIGTERM or SIGINT, then stops it and ends the process. Exit codes: 0 after a clean
 * stop, 78 for a wrong configuration, 1 for any other error. An uncaught error also stops the service, since
 * the state of the process is unknown after it.
 */
export async function runService<Config extends EntryConfig>(
  options: EntryOptions<Config> & {
    /** Wires the service. The components are started in this order and stopped in reverse order. */
    readonly compose: (
      context: ServiceContext<Config>,
    ) => readonly Component[] | Promise<readonly Component[]>;
    /**
     * The time from the first signal to the end of the process. After it the process exits with 1 and logs the
     * component that hangs. Default: 10,000.
     */
    readonly stopTimeoutMs?: number;
  },
): Promise<void> {
  outliveOutput();
  let entry: OpenEntry<Config> | undefined;
  let lifecycle: Lifecycle | undefined;
  let exitCode = 0;
  const ending = Promise.withResolvers<string>();
  const fail = (error: unknown): void => {
    exitCode = reportFatal(options.name, error, entry?.logger);
    ending.resolve('an error');
  };
  // `on`, not `once`: npm forwards a Ctrl-C that the terminal sent to every process, and the second signal
  // must not kill the drain.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => ending.resolve(signal));
  process.on('uncaughtException', fail); // unhandled rejections end here too

  const giveUp = (): void => {
    entry?.logger.error('service did not stop in time', { component: lifecycle?.busyWith ?? 'compose' });
    process.exit(1);
  };
  let deadline = Infinity;
  const stopRequested = ending.promise.then((reason) => {
    const stopTimeoutMs = options.stopTimeoutMs ?? STOP_TIMEOUT_MS;
    deadline = performance.now() + stopTimeoutMs;
    setTimeout(giveUp, stopTimeoutMs);
    return reason;
  });

  try {
    entry = await openEntry(options, { traced: true });
    const { logger } = entry;
    const metrics = new Metrics(options.name);
    metrics.computed(
      { type: 'counter', name: 'log_lines_lost_total', help: 'Lines of the log that could not be written.' },
      () => [{ value: logger.lostLines() }],
    );
    const readiness: Readiness = new Readiness({
      onCheckFailed: (check, error) => {
        // A probe that comes before the end of the start says nothing about the dependency.
        if (readiness.starting) logger.info('not ready yet', { check, reason: messageOf(error) });
        else logger.warn('readiness check failed', { check, error });
      },
    });
    lifecycle = new Lifecycle(await options.compose({ ...entry, metrics, readiness, fail }), logger);
    lifecycle.start().then(() => {
      if (readiness.markStarted()) logger.info('service started');
    }, fail);
    const reason = await stopRequested;
    readiness.markStopping();
    logger.info('service stopping', { reason });
    if (!(await lifecycle.stop())) exitCode = 1;
    const left = deadline - performance.now() - SPARE_MS;
    await entry.tracing.stop(Math.max(0, Math.min(LAST_SPANS_MS, left)));
    logger.info('service stopped');
  } catch (error) {
    exitCode = reportFatal(options.name, error, entry?.logger);
  }
  // Explicit, because the idle keep-alive socket of a client would keep the process alive.
  process.exit(exitCode);
}

function messageOf(error: unknown): string {
  return Error.isError(error) ? error.message : String(error);
}

/**
 * Runs a command that ends, e.g. `janitor --once NAME`. Sets the exit code: 0, 78 for a wrong configuration,
 * 1 for any other error.
 */
export async function runCommand<Config extends EntryConfig>(
  options: EntryOptions<Config> & {
    /** Does the work and releases its resources. The result goes to stdout; the log goes to stderr. */
    readonly run: (entry: Entry<Config>) => Promise<void>;
  },
): Promise<void> {
  outliveOutput();
  let logger: ProcessLogger | undefined;
  try {
    const entry = await openEntry(options, { traced: false });
    logger = entry.logger;
    await options.run(entry);
  } catch (error) {
    process.exitCode = reportFatal(options.name, error, logger);
  }
}
