import { types } from 'node:util';

/** Keys whose values never reach a log, compared without case, hyphens and underscores. */
const secretKeys = new Set([
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'deletetoken',
  'deletetokenhash',
  'token',
  'accesstoken',
  'apitoken',
  'idempotencykey', // with it a kept answer is opened, and its delete token
  'password',
  'secretaccesskey',
  'sessiontoken',
  'content',
  'contentbytes',
  'contentbase64',
  'payload',
  'parameters', // of a job: an import's hold content
  'body',
  'messagebody',
  'stringvalue',
  'detail', // pg: 'Failing row contains (…)'
]);

const REDACTED = '[redacted]';

/** Deeper than anything that is logged on purpose; it ends a walk into some library's object. */
const MAX_DEPTH = 8;

/**
 * A copy that is safe to log: secrets by key and by shape, content, and bytes are taken out; errors become plain objects with
 * name, message, code, stack and cause; what JSON can't say (bigint, circles) is said as text.
 */
export function redact(value: unknown): unknown {
  return copy(value, []);
}

/**
 * Our tokens start with `pf_`, an identity provider's are JWTs; a URL may hold a password, or be good for whoever has its signature; and what
 * JSON.parse says of a text that is none quotes it.
 */
export function redactText(text: string): string {
  return text
    .replace(/\bpf_[\w-]{4,}/g, `pf_${REDACTED}`)
    .replace(/\beyJ[\w-]{4,}\.[\w-]+\.[\w-]*/g, REDACTED)
    .replace(/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${REDACTED}`)
    .replace(/([a-z][a-z\d+.-]*:\/\/[^\s:/?#@]*:)[^\s/?#@]+@/gi, `$1${REDACTED}@`)
    .replace(/\b(X-Amz-(?:Signature|Credential|Security-Token)=)[^&\s"']+/gi, `$1${REDACTED}`)
    .replace(
      /(?:token '[^']*', )?(?:\.\.\.)?"[^]*?"(?:\.\.\.)? is not valid JSON/g,
      `${REDACTED} is not valid JSON`,
    );
}

function copy(value: unknown, parents: readonly object[]): unknown {
  switch (typeof value) {
    case 'string':
      return redactText(value);
    case 'bigint':
    case 'symbol':
      return String(value);
    case 'function':
      return undefined;
    case 'object':
      return value === null ? null : copyObject(value, parents);
    default:
      return value;
  }
}

function copyObject(value: object, parents: readonly object[]): unknown {
  if (parents.includes(value)) return '[circular]';
  if (parents.length >= MAX_DEPTH) return '[deeper]';
  const trail = [...parents, value];
  if (types.isDate(value)) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof URL) return redactText(value.href);
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.map((item) => copy(item, trail));
  if (types.isMap(value) || types.isSet(value)) return copy([...value], trail);
  if (Error.isError(value)) return copyError(value, trail);
  return copyFields(value, trail);
}

function copyError(error: Error, trail: readonly object[]): unknown {
  const { name, message, stack, cause } = error;
  const own = copyFields(error, trail);
  return {
    ...own,
    name,
    message: redactText(message),
    ...(stack === undefined ? {} : { stack: redactText(stack) }),
    ...(cause === undefined ? {} : { cause: copy(cause, trail) }),
    ...('errors' in error ? { errors: copy(error.errors, trail) } : {}), // AggregateError
  };
}

function copyFields(value: object, trail: readonly object[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, isSecret(key, field) ? REDACTED : copy(field, trail)]),
  );
}

/** Bytes are said by their number anyway. */
function isSecret(key: string, field: unknown): boolean {
  if (field === undefined || field === null || ArrayBuffer.isView(field)) return false;
  return secretKeys.has(key.toLowerCase().replace(/[-_]/g, ''));
}
