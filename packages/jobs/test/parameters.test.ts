import { describe, expect, it } from '@jest/globals';
import { jobTypes } from '../src/index.ts';

function faultsOf(jobType: string, parameters: unknown): string[] {
  const parsed = jobTypes.get(jobType)!.parameters.safeParse(parameters);
  return (parsed.error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('the parameters of an import', () => {
  it.each([
    [{ items: [{ content: 'x' }] }],
    [{ items: Array.from({ length: 1000 }, () => ({})) }],
    [{ items: [{ content: 5, colour: ['red'] }] }], // checked only when the job runs
    [{ source_short_code: 'abc' }],
    [{ source_short_code: 'abc', visibility: 'private', expires_in: 'never' }],
  ])('%j are accepted', (parameters) => {
    expect(faultsOf('import', parameters)).toEqual([]);
  });

  it.each([
    [{}, ['items: is required unless source_short_code is given']],
    [{ items: [] }, ['items: must have at least one item']],
    [{ items: Array.from({ length: 1001 }, () => ({})) }, ['items: must have at most 1000 items']],
    [{ items: { content: 'x' } }, ['items: must be a list of JSON objects']],
    [{ items: [{}, 'x'] }, ['items.1: must be a JSON object']],
    [{ items: [[]] }, ['items.0: must be a JSON object']],
    [{ items: [{}], source_short_code: 'abc' }, ['source_short_code: cannot be combined with items']],
    [
      { items: [{}], visibility: 'private', expires_in: 60 },
      ['visibility: must be set in each item instead', 'expires_in: must be set in each item instead'],
    ],
    [{ source_short_code: '../x' }, ['source_short_code: must be a short code']],
    [
      { source_short_code: 'abc', expires_in: 5 },
      [
        'expires_in: must be whole seconds from 60 to 31536000, a time such as "10m", "12h" or "7d", or "never"',
      ],
    ],
    [
      { source_short_code: 'abc', visibility: 'all' },
      ['visibility: must be one of unlisted, members, private'],
    ],
    [[], [': must be a JSON object']],
  ])('%j are rejected', (parameters, faults) => {
    expect(faultsOf('import', parameters)).toEqual(faults);
  });

  it('must not have other fields', () => {
    expect(faultsOf('import', { items: [{}], colour: 'red' })).toHaveLength(1);
  });
});

describe('the parameters of an export', () => {
  it('default to a zip of all pastes', () => {
    expect(jobTypes.get('export')!.parameters.parse({})).toEqual({ format: 'zip' });
  });

  it.each([
    [{ format: 'rar' }, ['format: must be one of zip, tar.gz, ndjson']],
    [{ status: 'DONE' }, ['status: must be one of IN_PROGRESS, PROCESSED, FAILED']],
    [{ created_after: 'yesterday' }, ['created_after: must be an RFC 3339 time']],
    [
      { created_after: '2026-01-02T00:00:00Z', created_before: '2026-01-02T01:00:00+02:00' },
      ['created_before: must be later than created_after'],
    ],
  ])('%j are rejected', (parameters, faults) => {
    expect(faultsOf('export', parameters)).toEqual(faults);
  });
});

describe('parameters', () => {
  it('parse to the same value again after they were stored', () => {
    for (const { parameters, example } of jobTypes.values()) {
      const once = parameters.parse(example);
      expect(parameters.parse(JSON.parse(JSON.stringify(once)))).toEqual(once);
    }
  });
});
