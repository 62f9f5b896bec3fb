import { inspect } from 'node:util';
import winston from 'winston';
import { z } from 'zod';
import { oneOf } from '../config/variables.ts';
import { FloodLimit, kindOf } from './flood-limit.ts';
import { LossyOutput } from './lossy-output.ts';
import { addRedacted, redact, redactText } from './redact.ts';

const logLevels = ['error', 'warn', 'info', 'debug'] as const;
type LogLevel = (typeof logLevels)[number];

export interface LogConfig {
  readonly level: LogLevel;
  /** `json`: one object a line, for programs. `pretty`: for people at a terminal. */
  readonly format: 'json' | 'pretty';
}

/** Default format: `pretty` when stderr, where the log goes, is a terminal. */
export const logEnv: z.ZodType<LogConfig> = z
  .object({
    LOG_LEVEL: oneOf(logLevels).default('info'),
    LOG_FORMAT: oneOf(['json', 'pretty']).optional(),
    NODE_ENV: z.string().optional(),
  })
  .transform((env) => {
    const forPeople = process.stderr.isTTY && env.NODE_ENV !== 'production';
    return { level: env.LOG_LEVEL, format: env.LOG_FORMAT ?? (forPeople ? 'pretty' : 'json') };
  });

/** Ids and counts of a log line. An error has the key `error`. Secrets and content are redacted. */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Of warnings and errors, at most one line of each kind is written a second (`kindOf`, `FloodLimit`). Lines
 * at info and debug are all written: each is the record of one request, attempt or sweep. They wait for the end
 * of their turn of the event loop, or for a warning or an error: only a process that is killed loses them.
 */
export interface Logger {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  /**
   * A logger that adds these fields to each of its lines. A line's own fields take precedence. With
   * `everyLine`, it and its children also write each warning and error, because each is a record of its own.
   */
  child(
    fields: LogFields,
    options?: {
      readonly everyLine?: boolean;
    },
  ): Logger;
}

export interface ProcessLogger extends Logger {
  /** Writes the lines that wait for the end of their second or turn. To be called when the process exits. */
  flush(): void;
  /** The lines that could not be written since the start. */
  readonly lostLines: () => number;
}

export function createLogger(
  options: LogConfig & {
    readonly service: string;
    readonly instance?: string;
    /**
     * Default: stderr, since stdout is for the results of commands, e.g. the counts of `npm run janitor --
     * --once NAME`.
     */
    readonly stream?: NodeJS.WritableStream;
    /** Called for each line: the ids of the active span. */
    readonly spanFields?: () => LogFields | undefined;
  },
): ProcessLogger {
  const { service, instance, stream = process.stderr } = options;
  const output = new LossyOutput(stream, (lost_lines) => logger.warn('log works again', { lost_lines }));
  const sink = winston.createLogger({
    level: options.level,
    format: options.format === 'json' ? jsonLine() : prettyLine(),
    transports: [new winston.transports.Stream({ stream: output, eol: '\n' })],
  });
  const write = (entry: Entry): void => {
    sink.log(entry);
    // It may say why the process is killed next.
    if (entry.level === 'error' || entry.level === 'warn') output.flush();
  };
  const limit = new FloodLimit<Entry>((entry, suppressed) =>
    write(suppressed === 0 ? entry : { ...entry, fields: { ...entry.fields, suppressed } }),
  );
  const spanFields = options.spanFields ?? (() => undefined);
  const bindings = instance === undefined ? { service } : { service, instance };
  const logger = loggerTo({ write, limit, spanFields }, bindings, false);
  const flush = (): void => {
    limit.flush();
    output.flush();
  };
  return { ...logger, flush, lostLines: () => output.lostLines };
}

interface Sink {
  readonly write: (entry: Entry) => void;
  readonly limit: FloodLimit<Entry>;
  readonly spanFields: () => LogFields | undefined;
}

/**
 * Hides winston's own methods, which treat a field named `message` as a second message, and replace message
 * and fields by an Error that is passed as the fields.
 */
function loggerTo(sink: Sink, bindings: LogFields, everyLine: boolean): Logger {
  const entryOf = (level: string, message: string, fields?: LogFields): Entry => ({
    time: new Date(),
    level,
    message,
    fields: { ...bindings, ...sink.spanFields(), ...fields },
  });
  const write =
    (level: 'error' | 'warn' | 'info' | 'debug') =>
    (message: string, fields?: LogFields): void =>
      sink.write(entryOf(level, message, fields));
  const writeLimited =
    (level: 'error' | 'warn') =>
    (message: string, fields?: LogFields): void => {
      const entry = entryOf(level, message, fields);
      sink.limit.add(kindOf(level, message, entry.fields), entry);
    };
  const writeWarning = everyLine ? write : writeLimited;
  return {
    error: writeWarning('error'),
    warn: writeWarning('warn'),
    info: write('info'),
    debug: write('debug'),
    child: (fields, options) =>
      loggerTo(sink, { ...bindings, ...fields }, everyLine || options?.everyLine === true),
  };
}

/**
 * What the logger passes to winston. Fields are separate, so that no field can overwrite time, level or
 * message.
 */
interface Entry {
  readonly time: Date;
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** `{"time":"2026-11-21T08:00:00.000Z","level":"info","message":"…","service":"api", …}`. Times are UTC. */
function jsonLine(): winston.Logform.Format {
  return lines(({ time, level, message, fields }) => {
    const line = { time: time.toISOString(), level, message: redactText(message) };
    return JSON.stringify(addRedacted(line, fields));
  });
}

/** `08:00:00.000 INFO  api: message  short_code=abc`, followed by the stack of an error. Times are UTC. */
function prettyLine(): winston.Logform.Format {
  return lines(({ time, level, message, fields }) => {
    const { service, instance: _, error, ...rest } = redact(fields) as Record<string, unknown>;
    const head = `${time.toISOString().slice(11, 23)} ${level.toUpperCase().padEnd(5)} ${String(service)}:`;
    const pairs = Object.entries(rest).map(([key, value]) => `${key}=${brief(value)}`);
    const below = error === undefined ? [] : [`\n${trace(error)}`];
    return [head, redactText(message), ...pairs].join(' ') + below.join('');
  });
}

function lines(line: (entry: Entry) => string): winston.Logform.Format {
  return winston.format.printf((info) => line(info as unknown as Entry));
}

function brief(value: unknown): string {
  if (typeof value === 'string') return /^[\w.:/-]+$/.test(value) ? value : JSON.stringify(value);
  return inspect(value, { breakLength: Infinity, depth: 4 });
}

/** The stacks of an error and of its causes, indented. */
function trace(error: unknown): string {
  if (typeof error !== 'object' || error === null) return `  ${inspect(error)}`;
  const { stack, message, cause } = error as { stack?: string; message?: string; cause?: unknown };
  const own = `  ${String(stack ?? message ?? inspect(error))}`.replaceAll('\n', '\n  ');
  return cause === undefined ? own : `${own}\n  caused by:\n${trace(cause)}`;
}
