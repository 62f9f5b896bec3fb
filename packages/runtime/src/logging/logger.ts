import winston from 'winston';
import type { LogConfig } from './log-env.ts';
import { jsonLine, prettyLine } from './lines.ts';

/** Ids and counts of a log line. An error has the key `error`. Secrets and content are redacted. */
export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  /** A logger that adds these fields to each of its lines. A line's own fields take precedence. */
  child(fields: LogFields): Logger;
}

export interface LoggerOptions extends LogConfig {
  readonly service: string;
  readonly instance?: string;
  /**
   * Default: stderr, since stdout is for the results of commands, e.g. the counts of `npm run janitor --
   * --once NAME`.
   */
  readonly stream?: NodeJS.WritableStream;
  /** Called for each line: the ids of the active span. */
  readonly spanFields?: () => LogFields | undefined;
}

export function createLogger(options: LoggerOptions): Logger {
  const { service, instance, stream = process.stderr } = options;
  const sink = winston.createLogger({
    level: options.level,
    format: options.format === 'json' ? jsonLine() : prettyLine(),
    transports: [new winston.transports.Stream({ stream, eol: '\n' })],
  });
  const bindings = instance === undefined ? { service } : { service, instance };
  return loggerTo(sink, bindings, options.spanFields ?? (() => undefined));
}

/**
 * Hides winston's own methods, which treat a field named `message` as a second message, and replace message
 * and fields by an Error that is passed as the fields.
 */
function loggerTo(
  sink: winston.Logger,
  bindings: LogFields,
  spanFields: () => LogFields | undefined,
): Logger {
  const write =
    (level: 'error' | 'warn' | 'info' | 'debug') =>
    (message: string, fields?: LogFields): void => {
      sink.log({ level, message, fields: { ...bindings, ...spanFields(), ...fields } });
    };
  return {
    error: write('error'),
    warn: write('warn'),
    info: write('info'),
    debug: write('debug'),
    child: (fields) => loggerTo(sink, { ...bindings, ...fields }, spanFields),
  };
}
