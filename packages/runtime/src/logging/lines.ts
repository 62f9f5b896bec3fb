import { inspect } from 'node:util';
import winston from 'winston';
import { redact, redactText } from './redact.ts';

/**
 * What the logger passes to winston. Fields are separate, so that no field can overwrite time, level or
 * message.
 */
export interface Entry {
  readonly time: Date;
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** `{"time":"2026-11-21T08:00:00.000Z","level":"info","message":"…","service":"api", …}`. Times are UTC. */
export function jsonLine(): winston.Logform.Format {
  return lines(({ time, level, message, fields }) => {
    const head = { time: time.toISOString(), level, message: redactText(message) };
    return JSON.stringify({ ...head, ...(redact(fields) as object), ...head });
  });
}

/** `08:00:00.000 INFO  api: message  short_code=abc`, followed by the stack of an error. Times are UTC. */
export function prettyLine(): winston.Logform.Format {
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
