import { describe, expect, it } from '@jest/globals';
import { RequestError } from '../src/http/errors/request-error.ts';
import { MAX_JSON_DEPTH, MAX_JSON_VALUES, parseStorableJson } from '../src/http/body/json-body.ts';

/** The parsed value, or the code and the first field error of the RequestError. */
function outcome(text: string | Buffer): unknown {
  try {
    return parseStorableJson(Buffer.from(text));
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return [
      error.code,
      ...(error.errors?.slice(0, 1).map(({ path, message }) => `${path}: ${message}`) ?? []),
    ];
  }
}

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

describe('parseStorableJson', () => {
  it.each([
    '{"a":[1,"b",null,true,{"c":-0.5e3}]}',
    '"\\\\"',
    '"\\"[[[\\\\\\"{"',
    '[]',
    ' 1 ',
    '{"ä":"😀"}',
    '"\\ud83d\\ude00"',
  ])('returns what JSON.parse returns: %s', (text) => {
    expect(outcome(text)).toEqual(JSON.parse(text));
  });

  it.each(['', '{', '"', '"\\', '[1,]', '{"a":1}}', 'NaN', Buffer.from([0x22, 0xff, 0x22])])(
    'refuses invalid JSON: %s',
    (text) => {
      expect(outcome(text)).toEqual(['malformed_request']);
    },
  );

  it.each([
    ['{"a":{"b":["x","y\\u0000"]}}', 'a.b.1: must not have NUL characters'],
    ['{"a":{"\\u0000":1}}', 'a.\0: must not have NUL characters'],
    ['{"a":"\\ud800"}', 'a: must be well-formed Unicode, without lone surrogates'],
    ['{"\\udc00":1}', '\udc00: must be well-formed Unicode, without lone surrogates'],
    ['{"a":[1e400]}', 'a.0: must be a number below 1.8e308'],
    ['-1e400', ': must be a number below 1.8e308'],
  ])('names the path of a value that Postgres refuses or changes: %j', (text, fieldError) => {
    expect(outcome(text)).toEqual(['validation_failed', fieldError]);
  });

  it(`accepts ${MAX_JSON_DEPTH} levels and refuses one more`, () => {
    expect(outcome(nested(MAX_JSON_DEPTH))).toHaveLength(1);
    const refused = ['validation_failed', `: must be nested at most ${MAX_JSON_DEPTH} levels deep`];
    expect(outcome(nested(MAX_JSON_DEPTH + 1))).toEqual(refused);
    expect(outcome(nested(8_000_000))).toEqual(refused);
    // Brackets inside a string are not levels; brackets after it are.
    expect(outcome(JSON.stringify(`"${nested(1000)}`))).toBe(`"${nested(1000)}`);
    expect(outcome(`["\\\\",${nested(1000)}]`)).toEqual(refused);
  });

  it(`accepts ${MAX_JSON_VALUES} values and refuses one more`, () => {
    const list = (length: number) => `[${Array(length).fill('1').join(',')}]`;
    expect(outcome(list(MAX_JSON_VALUES - 1))).toHaveLength(MAX_JSON_VALUES - 1);
    const refused = ['validation_failed', `: must have at most ${MAX_JSON_VALUES} values`];
    expect(outcome(list(MAX_JSON_VALUES))).toEqual(refused);
    expect(outcome(`[${Array(MAX_JSON_VALUES).fill('{}').join(',')}]`)).toEqual(refused);
    expect(outcome(`"${','.repeat(MAX_JSON_VALUES)}"`)).toHaveLength(MAX_JSON_VALUES);
  });

  it('names at most 100 field errors', () => {
    const errors: unknown[] = [];
    try {
      parseStorableJson(Buffer.from(JSON.stringify(Array(5000).fill('\0'))));
    } catch (error) {
      errors.push(...(error as RequestError).errors!);
    }
    expect(errors).toHaveLength(100);
  });
});
