import { parseJson } from './json-body.ts';
import { validationFailed, type FieldError } from '../errors/request-error.ts';

/** The parameters of a job have fewer than ten levels. */
export const MAX_JSON_DEPTH = 32;

/**
 * An import of 1,000 pastes with every field has 5,000 values. 16 MiB of empty objects, 5.6 million, take the
 * parser more than a second.
 */
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
