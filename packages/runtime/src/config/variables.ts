import { z } from 'zod';

/**
 * Parses one environment variable from text to a typed value. Combine with `z.object`, `.default` and
 * `.optional`.
 */
export type Variable<T> = z.ZodType<T, string>;

/**
 * A variable that `parse` reads; `parse` returns undefined for an invalid text.
 * `expected` completes the sentence "set it to …" in the message about a missing or wrong value.
 */
export function variable<T>(expected: string, parse: (text: string) => T | undefined): Variable<T> {
  return z.string({ error: `is missing; set it to ${expected}` }).transform((text, context) => {
    const value = parse(text);
    if (value !== undefined) return value;
    context.addIssue(`is ${JSON.stringify(text)}; set it to ${expected}`);
    return z.NEVER;
  });
}

function wholeNumber(expected: string, min: number, max = Number.MAX_SAFE_INTEGER): Variable<number> {
  return variable(expected, (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    return value >= min && value <= max ? value : undefined;
  });
}

export function port(): Variable<number> {
  return wholeNumber('a port from 0 to 65535 (0: any free port)', 0, 65_535);
}

export function positiveInteger({ max }: { max?: number } = {}): Variable<number> {
  return wholeNumber(max === undefined ? 'a whole number from 1' : `a whole number from 1 to ${max}`, 1, max);
}

export function nonNegativeInteger(): Variable<number> {
  return wholeNumber('a whole number from 0', 0);
}

/** The limit of setTimeout, which fires at once for a longer wait. */
const MAX_TIMER_MS = 2_147_483_647;

/** A wait in whole milliseconds. Default minimum: 0. */
export function milliseconds({
  min = 0,
  max = MAX_TIMER_MS,
}: { min?: number; max?: number } = {}): Variable<number> {
  const range = max === MAX_TIMER_MS ? `from ${min}` : `from ${min} to ${max}`;
  return wholeNumber(`whole milliseconds ${range}`, min, max);
}

/** A duration in seconds, above 0 and at most 100 years. Fractions are allowed, so that tests can be fast. */
export function seconds(): Variable<number> {
  return variable('seconds above 0, e.g. 60 or 0.5', (text) => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
    return value > 0 && value <= 3_155_760_000 ? value : undefined;
  });
}

/**
 * The time between two runs in seconds, above 0 and at most 2,000,000 (23 days), which is within the limit of
 * a timer.
 */
export function intervalSeconds(): Variable<number> {
  return variable('seconds above 0 and at most 2000000, e.g. 60 or 0.5', (text) => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
    return value > 0 && value <= 2_000_000 ? value : undefined;
  });
}

/** Waits in whole milliseconds, in order, e.g. `1000,2000`. */
export function millisecondsList(): Variable<number[]> {
  return variable('whole milliseconds, separated by commas, e.g. 1000,2000,4000', (text) => {
    const parts = text.split(',').map((part) => part.trim());
    const valid = parts.every((part) => /^\d+$/.test(part) && Number(part) <= MAX_TIMER_MS);
    return valid ? parts.map(Number) : undefined;
  });
}

export function flag(): Variable<boolean> {
  return variable('true or false', (text) => {
    if (/^(true|1|yes|on)$/i.test(text)) return true;
    return /^(false|0|no|off)$/i.test(text) ? false : undefined;
  });
}

export function text(expected = 'some text'): Variable<string> {
  return variable(expected, (value) => value);
}

/**
 * A password, a token or another secret, unchanged. The error message says what is expected, and never
 * contains the value: the message of a wrong configuration ends in logs that many people read.
 */
export function secret(expected: string, isValid: (value: string) => boolean = () => true): Variable<string> {
  return z
    .string({ error: `is missing; set it to ${expected}` })
    .refine(isValid, { error: `is not valid (the value is not shown); set it to ${expected}` });
}

export function oneOf<const T extends string>(values: readonly T[]): Variable<T> {
  return variable(values.join(' or '), (text) => values.find((value) => value === text));
}

/** One or more of the values, separated by commas, without duplicates, e.g. `uploads,jobs`. */
export function listOf<const T extends string>(values: readonly T[]): Variable<readonly T[]> {
  const expected = `one or more of ${values.join(', ')}, separated by commas`;
  return variable(expected, (text) => {
    const parts = text.split(',').map((part) => values.find((value) => value === part.trim()));
    const known = parts.filter((part) => part !== undefined);
    return known.length === parts.length && new Set(known).size === known.length ? known : undefined;
  });
}

/**
 * An absolute URL with one of the protocols (`http:`), unchanged. The error message does not contain the
 * value, which may hold a password.
 */
export function url(protocols: readonly string[], example: string): Variable<string> {
  const expected = `a URL like ${example}`;
  return z
    .string({ error: `is missing; set it to ${expected}` })
    .refine((value) => protocols.includes(URL.parse(value)?.protocol ?? ''), {
      error: `is not a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}; set it to ${expected}`,
    });
}

export function httpUrl(example = 'http://127.0.0.1:4566'): Variable<string> {
  return url(['http:', 'https:'], example);
}
