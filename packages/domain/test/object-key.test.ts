import { expect, it } from '@jest/globals';
import { jobIdOfKey, jobKeyPrefix, objectKeyOf, shortCodeOfKey } from '../src/index.ts';

const JOB = '019a0000-0000-7000-8000-000000000001';

it('takes a short code to its object key and back', () => {
  expect(shortCodeOfKey(objectKeyOf('abc123'))).toBe('abc123');
  for (const key of ['abc123', 'pastes/', 'pastes/a/b', 'other/abc']) expect(shortCodeOfKey(key)).toBeNull();
});

it('takes a job to its folder, and what lies in it back', () => {
  expect(jobIdOfKey(`${jobKeyPrefix(JOB)}export.zip`)).toBe(JOB);
  expect(jobIdOfKey(`${jobKeyPrefix(JOB)}deeper/export.zip`)).toBe(JOB);
  for (const key of [JOB, `jobs/${JOB}`, 'jobs//x', 'jobs/1/x', `pastes/${JOB}/x`, `x/jobs/${JOB}/x`])
    expect(jobIdOfKey(key)).toBeNull();
});
