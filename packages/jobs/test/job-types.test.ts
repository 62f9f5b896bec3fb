import { readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { addJobType, defineJobType, jobTypes } from '../src/index.ts';

describe('the list of job types', () => {
  it('contains export and import', () => {
    expect([...jobTypes.keys()]).toEqual(['export', 'import']);
  });

  it('contains one type for each folder of types/, under the name of its folder', () => {
    const folders = readdirSync(new URL('../src/types', import.meta.url));
    expect([...jobTypes.keys()].toSorted()).toEqual(folders.toSorted());
  });

  it('has valid examples', () => {
    for (const { parameters, example } of jobTypes.values())
      expect(parameters.safeParse(example).success).toBe(true);
  });

  it('takes one more type, and no name twice', () => {
    const own = defineJobType({
      name: 'own',
      summary: 'Made for a test.',
      parameters: z.strictObject({}),
      example: {},
      readShortCodes: () => [],
      run: async () => ({ status: 'completed', result: {} }),
    });
    addJobType(own);
    expect(jobTypes.get('own')).toBe(own);
    expect(() => addJobType(own)).toThrow("There already is a job type 'own'.");
    expect(() => addJobType({ ...own, name: 'uploads' } as typeof own)).toThrow("cannot be called 'uploads'");
  });
});
