import { Readiness } from '../health/readiness.ts';
import { Metrics } from '../metrics.ts';
import type { Component } from '../lifecycle/component.ts';
import { openEntry, reportFatal, type Entry, type EntryConfig, type EntryOptions } from './entry.ts';
import { Lifecycle } from '../lifecycle/lifecycle.ts';

/** What a service's compose.ts is given. */
export interface ServiceContext<Config> extends Entry<Config> {
  readonly metrics: Metrics;
  /** Kept up to date with the lifecycle; compose adds the checks. */
  readonly readiness: Readiness;
}

export interface ServiceOptions<Config> extends EntryOptions<Config> {
  /** Wires the service; its components are started in this order and stopped in the reverse one. */
  readonly compose: (context: ServiceContext<Config>) => readonly Component[] | Promise<readonly Component[]>;
  /** From the first signal to the end, 10 s unless told. After it the process exits with 1 and names what hangs. */
  readonly stopTimeoutMs?: number;
}

/** Orchestrators commonly send SIGKILL 30 s after SIGTERM, some 10 s after it. */
const STOP_TIMEOUT_MS = 10_000;

/** What the last spans may take of it, when there is as much left: a collector that doesn't answer must not make a good stop a bad one. */
const LAST_SPANS_MS = 1000;
const SPARE_MS = 100;

/**
 * Runs a service until SIGTERM or SIGINT, then stops it and ends the process: 0 when all has stopped well, 78 when the
 * configuration is wrong, else 1. An error nobody caught stops the service too: after it no state can be trusted.
 */
export async function runService<Config extends EntryConfig>(options: ServiceOptions<Config>): Promise<void> {
  let entry: Entry<Config> | undefined;
  let lifecycle: Lifecycle | undefined;
  let exitCode = 0;
  const ending = Promise.withResolvers<string>();
  const fail = (error: unknown): void => {
    exitCode = reportFatal(options.name, error, entry?.logger);
    ending.resolve('an error');
  };
  // For good, not once: npm passes a Ctrl-C on that the terminal has sent to all, and the second must not kill the drain.
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
    const readiness = new Readiness({
      onCheckFailed: (check, error) => logger.warn('a readiness check failed', { check, error }),
    });
    lifecycle = new Lifecycle(
      await options.compose({ ...entry, metrics: new Metrics(options.name), readiness }),
      logger,
    );
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
  // Not left to an empty event loop: an idle keep-alive socket of some client would hold the process.
  process.exit(exitCode);
}
