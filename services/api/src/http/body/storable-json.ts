import { parseJson } from './json-body.ts';
import { validationFailed, type FieldError } from '../errors/request-error.ts';

/** A job's parameters have a handful of levels. */
export const MAX_JSON_DEPTH = 32;

/** An import of 1,000 pastes with every field has 5,000 values. 5.6 million empty objects, 16 MiB, take the parser more than a second. */
export const MAX_JSON_VALUES = 50_000;

/**
 * Parses JSON that is going to be kept as jsonb: whatever Postgres would refuse, or would keep as something else, is refused here.
 * @throws RequestError malformed_request, or validation_failed
 */
export function parseStorableJson(body: Buffer): unknown {
  assertBounded(body);
  const value = parseJson(body);
  const faults = faultsIn(value, []);
  if (faults.length > 0) throw validationFailed(faults);
  return value;
}

/** Looks at the bytes alone, before anything is made of them; whether they are JSON is for the parser to say. */
function assertBounded(json: Buffer): void {
  let depth = 0;
  let values = 1;
  for (let i = 0; i < json.length; i += 1) {
    switch (json[i]) {
      case 0x22: // "
        i = endOfString(json, i);
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        values += 1;
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
    if (depth > MAX_JSON_DEPTH) throw refuse(`must not be nested deeper than ${MAX_JSON_DEPTH} levels`);
    if (values > MAX_JSON_VALUES) throw refuse(`must not have more than ${MAX_JSON_VALUES} values`);
  }
}

/** Of the quote that closes the string which begins at `start`. */
function endOfString(json: Buffer, start: number): number {
  for (let i = start + 1; i < json.length; i += 1) {
    if (json[i] === 0x22) return i;
    if (json[i] === 0x5c) i += 1; // a backslash, and what it escapes
  }
  return json.length;
}

function refuse(message: string): Error {
  return validationFailed([{ path: '', message }]);
}

function faultsIn(value: unknown, path: readonly string[]): readonly FieldError[] {
  const message = faultOf(value);
  if (message !== null) return [{ path: path.join('.'), message }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => {
    const inName = faultOf(key);
    const at = [...path, key];
    return inName === null ? faultsIn(each, at) : [{ path: at.join('.'), message: inName }];
  });
}

/** What is wrong with it by itself, without what it holds. */
function faultOf(value: unknown): string | null {
  // JSON.parse takes 1e400 as Infinity, which JSON.stringify writes as null.
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'must be a number below 1.8e308';
  if (typeof value !== 'string') return null;
  if (value.includes('\0')) return 'must not have NUL characters, which are not stored here';
  return value.isWellFormed() ? null : 'must be well-formed Unicode, without lone surrogates';
}
