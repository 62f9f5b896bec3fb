import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { Readiness } from '../health/readiness.ts';
import { Metrics } from '../metrics.ts';
import { type ProcessLogger, createLogger, type LogConfig, type Logger } from '../logging/logger.ts';
import { outliveOutput } from '../logging/lossy-output.ts';
import { Lifecycle, type Component, StartError } from '../lifecycle.ts';
import { ConfigError, type Environment } from '../config/load-config.ts';
import { findUnknownSettings, type SettingNames } from '../config/unknown-settings.ts';
import type { TracingConfig } from '../config/tracing-env.ts';
import { activeSpanIds } from '../tracing/spans.ts';
import { startTracing, tracingOff, type Tracing } from '../tracing/tracing.ts';

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

/**
 * EX_CONFIG of sysexits.h. A supervisor can distinguish a wrong configuration, which a restart cannot fix,
 * from a crash.
 */
export const EXIT_CONFIG = 78;

/** The parts that every service and command starts with. */
export interface Entry<Config> {
  readonly name: string;
  /** See `instanceId`. */
  readonly instance: string;
  readonly config: Config;
  readonly logger: Logger;
  /** Always off for a command, which ends before its spans would be sent. */
  readonly tracing: Tracing;
}

interface OpenEntry<Config> extends Entry<Config> {
  readonly logger: ProcessLogger;
}

/** The settings that every service and command has. */
interface EntryConfig {
  readonly log: LogConfig;
  readonly tracing?: TracingConfig;
}

interface EntryOptions<Config> {
  /** The service's name, e.g. `upload-worker`. */
  readonly name: string;
  /** `process.env`; tests pass their own. */
  readonly env: Environment;
  /** Usually `(env) => loadConfig(schema, env)`. */
  readonly loadConfig: (env: Environment) => Config;
  /** Names in the environment that were meant to be one of these are refused. Default: any name may be set. */
  readonly settingNames?: SettingNames;
}

async function openEntry<Config extends EntryConfig>(
  { name, env, loadConfig, settingNames }: EntryOptions<Config>,
  { traced }: { readonly traced: boolean },
): Promise<OpenEntry<Config>> {
  const unknown = findUnknownSettings(env, settingNames ?? { current: [], retired: {} });
  const config = loadOrExplain(() => loadConfig(env), unknown.problems);
  const instance = instanceId(name);
  const logger = createLogger({ ...config.log, service: name, instance, spanFields: activeSpanIds });
  process.once('exit', () => logger.flush());
  if (unknown.ignored.length > 0) logger.warn('unknown settings ignored', { names: unknown.ignored });
  for (const advice of unknown.retired) logger.warn('retired setting', { advice });
  const tracing = traced
    ? await startTracing(config.tracing, { service: name, instance, logger })
    : tracingOff;
  return { name, instance, config, logger, tracing };
}

/** A misspelt name is often the reason why a setting is missing. */
function loadOrExplain<Config>(load: () => Config, problems: readonly string[]): Config {
  let config: Config;
  try {
    config = load();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError([...error.problems, ...problems]);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/**
 * Reports an error that ends the process: as one sentence when the user can correct the cause, otherwise with
 * its stack.
 * @returns the exit code
 */
function reportFatal(name: string, error: unknown, logger: ProcessLogger | undefined): number {
  logger?.flush(); // what follows comes after it
  if (error instanceof ConfigError || error instanceof StartError) {
    process.stderr.write(`${name}: ${error.message}\n`);
    return error instanceof ConfigError ? EXIT_CONFIG : 1;
  }
  if (logger === undefined) process.stderr.write(`${name}: ${String((error as Error)?.stack ?? error)}\n`);
  else logger.error('fatal error; process exiting', { error });
  return 1;
}

/**
 * `<service>/<host>-<pid>-<4 hex>`: identifies a process in the log, in `worker_id` and as the actor of
 * transitions. The random part distinguishes containers that all run as pid 1 on hosts of the same name.
 */
export function instanceId(service: string): string {
  return `${service}/${hostname()}-${process.pid}-${randomBytes(2).toString('hex')}`;
}
