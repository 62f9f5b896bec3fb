import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { ProblemCode } from '../answers/problem-codes.ts';
import { type FieldError, RequestError, validate, validationFailed } from '../answers/request-error.ts';
import { assertUtf8, mediaTypeOf } from '../request/media-type.ts';
import { type BodyLimit, readBody } from './read-body.ts';

/** Bounds on a document, which are checked before anything is built from it. */
export interface JsonLimits {
  /** The maximum nesting of arrays and objects. */
  readonly maxDepth: number;
  /** The maximum number of values: names, strings, numbers, arrays, objects and literals. */
  readonly maxValues: number;
}

/**
 * Parses a JSON document. Its levels and values are counted in the bytes first: `[{},{},…]` takes the parser
 * a hundred bytes of memory for each three bytes, and seconds for 16 MiB.
 * @throws RequestError malformed_request, or validation_failed for a document beyond its limits
 */
export function parseJson(
  body: Buffer,
  limits: JsonLimits,
  reviver?: Parameters<typeof JSON.parse>[1],
): unknown {
  assertWithinLimits(body, limits);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body), reviver);
  } catch (error) {
    if (error instanceof RequestError) throw error; // of the reviver
    throw new RequestError(
      'malformed_request',
      'The body is not valid JSON in UTF-8. Correct it and send the request again.',
      { cause: error },
    );
  }
}

/** Refuses also repeated names. Invalid JSON is left to the parser. */
function assertWithinLimits(json: Buffer, { maxDepth, maxValues }: JsonLimits): void {
  let depth = 0;
  let values = 1;
  /** The names of the objects that are open. */
  const names: Set<string>[] = [];
  let end = 0;
  for (let i = 0; i < json.length; i += 1) {
    switch (json[i]) {
      case 0x22: // "
        end = endOfString(json, i);
        if (isName(json, end + 1)) {
          const name = nameOf(json.subarray(i, end + 1));
          if (names[depth]?.has(name) === true) throw repeated(name);
          (names[depth] ??= new Set()).add(name);
        }
        i = end;
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        values += 1;
        names.length = Math.min(names.length, depth);
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        break;
      case 0x2c: // ,
        values += 1;
        break;
      default:
    }
    if (depth > maxDepth) throw refuse(`must be nested at most ${maxDepth} levels deep`);
    if (values > maxValues) throw refuse(`must have at most ${maxValues} values`);
  }
}

/** The index of the quote that closes the string at `start`. */
function endOfString(json: Buffer, start: number): number {
  for (let i = start + 1; i < json.length; i += 1) {
    if (json[i] === 0x22) return i;
    if (json[i] === 0x5c) i += 1; // skips the escaped character
  }
  return json.length;
}

/** Whether a colon follows. */
function isName(json: Buffer, after: number): boolean {
  let at = after;
  while (BLANKS.has(json[at])) at += 1;
  return json[at] === 0x3a;
}

const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** `t` and `\u0074` are one name. */
function nameOf(string: Buffer): string {
  const text = string.toString();
  try {
    return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
  } catch {
    return text; // the parser refuses it
  }
}

/** JSON.parse would keep the last of them and drop the others without a word. */
function repeated(name: string): Error {
  return validationFailed([{ path: name.slice(0, MAX_SHOWN_NAME), message: 'must not be repeated' }]);
}

const MAX_SHOWN_NAME = 100;

function refuse(message: string): Error {
  return validationFailed([{ path: '', message }]);
}

/** The parameters of a job have fewer than ten levels. */
export const MAX_JSON_DEPTH = 32;

/** An import of 1,000 pastes with every field has 5,000 values. */
export const MAX_JSON_VALUES = 50_000;

/**
 * Parses JSON that will be stored as jsonb. Values that Postgres refuses or changes are refused here.
 * @throws RequestError malformed_request, or validation_failed
 */
export function parseStorableJson(body: Buffer): unknown {
  const value = parseJson(body, { maxDepth: MAX_JSON_DEPTH, maxValues: MAX_JSON_VALUES });
  const errors = fieldErrorsIn(value, []);
  if (errors.length > 0) throw validationFailed(errors);
  return value;
}

function fieldErrorsIn(value: unknown, path: readonly string[]): readonly FieldError[] {
  const message = brokenRuleOf(value);
  if (message !== null) return [{ path: path.join('.'), message }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => {
    const inName = brokenRuleOf(key);
    const at = [...path, key];
    return inName === null ? fieldErrorsIn(each, at) : [{ path: at.join('.'), message: inName }];
  });
}

/** The rule that a value or a name breaks, its children not considered; null: none. */
function brokenRuleOf(value: unknown): string | null {
  // JSON.parse reads 1e400 as Infinity, which JSON.stringify writes as null.
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'must be a number below 1.8e308';
  if (typeof value !== 'string') return null;
  if (value.includes('\0')) return 'must not have NUL characters';
  return value.isWellFormed() ? null : 'must be well-formed Unicode, without lone surrogates';
}

/** What can be wrong with a JSON document, or with the moment: the errors of `readJson`. */
export const jsonBodyErrors = [
  'content_too_large',
  'validation_failed',
  'unsupported_media_type',
  'unsupported_encoding',
  'overloaded',
] as const satisfies readonly ProblemCode[];

/**
 * Reads a JSON document of a schema.
 * @param what it is, in the words of an error: `the job`
 * @throws RequestError for each rule that the request breaks
 */
export async function readJson<T>(
  req: IncomingMessage,
  res: ServerResponse,
  schema: z.ZodType<T>,
  { what, ...limit }: Omit<BodyLimit, 'tooLarge'> & { readonly what: string },
): Promise<T> {
  const mediaType = mediaTypeOf(req);
  if (mediaType.type !== 'application/json')
    throw new RequestError('unsupported_media_type', `Send ${what} as application/json.`);
  assertUtf8(mediaType);
  const tooLarge = (): RequestError =>
    new RequestError('content_too_large', `Send at most ${limit.maxBytes} bytes of JSON.`);
  return validate(schema, parseStorableJson(await readBody(req, res, { ...limit, tooLarge })));
}
