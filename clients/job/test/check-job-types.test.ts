import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { checkJobTypes } from '../src/check-job-types.ts';
import type { Kit } from '../src/index.ts';

const log = { info: () => {}, warn: () => {} };
const kit: Kit = { z, defineJobType: (type) => type, WorkFailedError: Error, log };

const own = {
  name: 'own',
  summary: 'Made for a test.',
  parameters: z.strictObject({ count: z.int() }),
  example: { count: 1 },
  run: async () => ({ status: 'completed', result: {} }),
};

/** What is wrong with a file that exports this. */
async function problemOf(exported: unknown): Promise<string> {
  return await checkJobTypes(exported, kit).then(
    () => 'nothing',
    (error: unknown) => (error as Error).message,
  );
}

it.each([
  ['a type', { ...own }],
  ['a list of types', [own, { ...own, name: 'our-own2' }]],
  [
    'objects of several kinds',
    {
      ...own,
      parameters: z.union([
        z.discriminatedUnion('by', [
          z.strictObject({ by: z.literal('name'), name: z.string() }),
          z.strictObject({ by: z.literal('id'), id: z.int() }),
        ]),
        z.record(z.string(), z.string()),
      ]),
      example: { by: 'id', id: 3 },
      contentParameters: ['name', 'other'],
    },
  ],
  ['every option', { ...own, maxOpen: 2, contentParameters: ['count'], readShortCodes: () => [] }],
])('takes %s', async (_what, made) => {
  expect(await problemOf(() => made)).toBe('nothing');
  expect(await problemOf(async () => made)).toBe('nothing');
});

it.each([
  ['no function', own, 'has no function as its default export'],
  ['nothing', () => undefined, 'returns what is no job type'],
  ['an empty list', () => [], 'returns an empty list'],
  [
    'a wrong name',
    () => ({ ...own, name: 'Own Type' }),
    'whose name is wrong: it must be words of a-z and 0-9',
  ],
  ['a word of digits', () => ({ ...own, name: 'own-2' }), 'whose name is wrong'],
  ['no summary', () => ({ ...own, summary: ' ' }), 'whose summary is wrong: it must be a sentence'],
  ['no run', () => ({ ...own, run: undefined }), 'whose run is wrong: it must be a function'],
  ['an unknown key', () => ({ ...own, maxopen: 1 }), 'Unrecognized key: "maxopen"'],
  ['no schema', () => ({ ...own, parameters: {} }), 'a schema that was made with kit.z'],
  ['no object', () => ({ ...own, parameters: z.string(), example: 'a' }), 'that are no object'],
  [
    'a union with a text',
    () => ({ ...own, parameters: z.union([own.parameters, z.string()]) }),
    'that are no object',
  ],
  [
    'the name of a content parameter that is none',
    () => ({ ...own, contentParameters: ['counts'] }),
    "has contentParameters of 'own' that name 'counts', which is no parameter",
  ],
  [
    'short codes that are no list',
    () => ({ ...own, readShortCodes: () => 'q7Zk2Lm9Xa' }),
    "has readShortCodes of 'own' that return no list of texts for its example",
  ],
  [
    'short codes that throw',
    () => ({ ...own, readShortCodes: ({ codes }: { codes: string[] }) => codes.map(String) }),
    "has readShortCodes of 'own' that throw for its example: ",
  ],
  ['no JSON', () => ({ ...own, parameters: z.strictObject({ a: z.bigint() }) }), "document can't describe"],
  [
    'a wrong example',
    () => ({ ...own, example: { count: 'one' } }),
    "an example of 'own' that its own schema refuses: count ",
  ],
  [
    'an output that is no input',
    () => ({ ...own, parameters: z.strictObject({ count: z.int().transform(String) }) }),
    "whose output, which is stored, can't be parsed again: count ",
  ],
])('refuses %s', async (_what, exported, problem) => {
  expect(await problemOf(exported)).toContain(problem);
});
