import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { checkJobTypes } from '../src/host.ts';
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
