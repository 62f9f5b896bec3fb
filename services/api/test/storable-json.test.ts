import { describe, expect, it } from '@jest/globals';
import { RequestError } from '../src/http/errors/request-error.ts';
import { MAX_JSON_DEPTH, MAX_JSON_VALUES, parseStorableJson } from '../src/http/body/storable-json.ts';

/** What it answers, or the code and the first fault of what it throws. */
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

describe('JSON that is going to be stored', () => {
  it.each([
    '{"a":[1,"b",null,true,{"c":-0.5e3}]}',
    '"\\\\"',
    '"\\"[[[\\\\\\"{"',
    '[]',
    ' 1 ',
    '{"ä":"😀"}',
    '"\\ud83d\\ude00"',
  ])('is what JSON.parse says: %s', (text) => {
    expect(outcome(text)).toEqual(JSON.parse(text));
  });

  it.each(['', '{', '"', '"\\', '[1,]', '{"a":1}}', 'NaN', Buffer.from([0x22, 0xff, 0x22])])(
    'is refused when it is none: %s',
    (text) => {
      expect(outcome(text)).toEqual(['malformed_request']);
    },
  );

  it.each([
    ['{"a":{"b":["x","y\\u0000"]}}', 'a.b.1: must not have NUL characters, which are not stored here'],
    ['{"a":{"\\u0000":1}}', 'a.\0: must not have NUL characters, which are not stored here'],
    ['{"a":"\\ud800"}', 'a: must be well-formed Unicode, without lone surrogates'],
    ['{"\\udc00":1}', '\udc00: must be well-formed Unicode, without lone surrogates'],
    ['{"a":[1e400]}', 'a.0: must be a number below 1.8e308'],
    ['-1e400', ': must be a number below 1.8e308'],
  ])('is refused with the path of what Postgres would refuse or change: %j', (text, fault) => {
    expect(outcome(text)).toEqual(['validation_failed', fault]);
  });

  it(`may have ${MAX_JSON_DEPTH} levels, and not more`, () => {
    expect(outcome(nested(MAX_JSON_DEPTH))).toHaveLength(1);
    const refused = ['validation_failed', `: must not be nested deeper than ${MAX_JSON_DEPTH} levels`];
    expect(outcome(nested(MAX_JSON_DEPTH + 1))).toEqual(refused);
    expect(outcome(nested(8_000_000))).toEqual(refused);
    // What is inside a string doesn't count, and what is behind it does.
    expect(outcome(JSON.stringify(`"${nested(1000)}`))).toBe(`"${nested(1000)}`);
    expect(outcome(`["\\\\",${nested(1000)}]`)).toEqual(refused);
  });

  it(`may have ${MAX_JSON_VALUES} values, and not more`, () => {
    const list = (length: number) => `[${Array(length).fill('1').join(',')}]`;
    expect(outcome(list(MAX_JSON_VALUES - 1))).toHaveLength(MAX_JSON_VALUES - 1);
    const refused = ['validation_failed', `: must not have more than ${MAX_JSON_VALUES} values`];
    expect(outcome(list(MAX_JSON_VALUES))).toEqual(refused);
    expect(outcome(`[${Array(MAX_JSON_VALUES).fill('{}').join(',')}]`)).toEqual(refused);
    expect(outcome(`"${','.repeat(MAX_JSON_VALUES)}"`)).toHaveLength(MAX_JSON_VALUES);
  });

  it('names at most a hundred faults', () => {
    const faults: unknown[] = [];
    try {
      parseStorableJson(Buffer.from(JSON.stringify(Array(5000).fill('\0'))));
    } catch (error) {
      faults.push(...(error as RequestError).errors!);
    }
    expect(faults).toHaveLength(100);
  });
});
