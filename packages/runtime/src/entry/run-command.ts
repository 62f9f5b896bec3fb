import type { Logger } from '../logging/logger.ts';
import { outliveOutput } from '../logging/lossy-output.ts';
import { openEntry, reportFatal, type Entry, type EntryConfig, type EntryOptions } from './entry.ts';

export interface CommandOptions<Config> extends EntryOptions<Config> {
  /** Does the work and releases its resources. The result goes to stdout; the log goes to stderr. */
  readonly run: (entry: Entry<Config>) => Promise<void>;
}

/**
 * Runs a command that ends, e.g. `janitor --once NAME`. Sets the exit code: 0, 78 for a wrong configuration,
 * 1 for any other error.
 */
export async function runCommand<Config extends EntryConfig>(options: CommandOptions<Config>): Promise<void> {
  outliveOutput();
  let logger: Logger | undefined;
  try {
    const entry = await openEntry(options, { traced: false });
    logger = entry.logger;
    await options.run(entry);
  } catch (error) {
    process.exitCode = reportFatal(options.name, error, logger);
  }
}
