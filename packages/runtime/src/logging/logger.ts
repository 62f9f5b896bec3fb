import winston from 'winston';
import type { LogConfig } from './log-env.ts';
import { jsonLine, prettyLine } from './lines.ts';

/** Ids and counts beside the message; an error goes under `error`. Secrets and content are taken out of all of it. */
export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  /** A logger that puts these fields on each of its lines, under the line's own. */
  child(fields: LogFields): Logger;
}

export interface LoggerOptions extends LogConfig {
  readonly service: string;
  readonly instance?: string;
  /** stderr unless told: stdout is for what a command answers, e.g. the counts of `npm run janitor -- --once NAME`. */
  readonly stream?: NodeJS.WritableStream;
  /** Asked for each line: what it says of the span that it is written in. */
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
 * Winston stays behind this interface: its own methods take a `message` among the fields for a second message, and an
 * Error in the fields' place replaces both.
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
