import { readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { jobTypes } from '../src/index.ts';

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
});
