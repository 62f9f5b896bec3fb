import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { ConfigError, type Environment } from '../config/load-config.ts';
import { findUnknownSettings, type SettingNames } from '../config/unknown-settings.ts';
import { createLogger, type LogConfig, type Logger, type ProcessLogger } from '../logging/logger.ts';
import type { TracingConfig } from '../config/tracing-env.ts';
import { activeSpanIds } from '../tracing/spans.ts';
import { startTracing, tracingOff, type Tracing } from '../tracing/tracing.ts';
import { StartError } from '../lifecycle.ts';

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

export interface OpenEntry<Config> extends Entry<Config> {
  readonly logger: ProcessLogger;
}

/** The settings that every service and command has. */
export interface EntryConfig {
  readonly log: LogConfig;
  readonly tracing?: TracingConfig;
}

export interface EntryOptions<Config> {
  /** The service's name, e.g. `upload-worker`. */
  readonly name: string;
  /** `process.env`; tests pass their own. */
  readonly env: Environment;
  /** Usually `(env) => loadConfig(schema, env)`. */
  readonly loadConfig: (env: Environment) => Config;
  /** Names in the environment that were meant to be one of these are refused. Default: any name may be set. */
  readonly settingNames?: SettingNames;
}

export async function openEntry<Config extends EntryConfig>(
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
export function reportFatal(name: string, error: unknown, logger: ProcessLogger | undefined): number {
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
