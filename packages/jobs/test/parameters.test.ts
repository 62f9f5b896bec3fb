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
    [{ items: [{ content: 5, colour: ['red'] }] }], // is found out when it is run
    [{ source_short_code: 'abc' }],
    [{ source_short_code: 'abc', visibility: 'private', expires_in: 'never' }],
  ])('%j are taken', (parameters) => {
    expect(faultsOf('import', parameters)).toEqual([]);
  });

  it.each([
    [{}, ['items: must be there, unless source_short_code is']],
    [{ items: [] }, ['items: must have at least one item']],
    [{ items: Array.from({ length: 1001 }, () => ({})) }, ['items: must have at most 1000 items']],
    [{ items: { content: 'x' } }, ['items: must be a list of JSON objects']],
    [{ items: [{}, 'x'] }, ['items.1: must be a JSON object']],
    [{ items: [[]] }, ['items.0: must be a JSON object']],
    [{ items: [{}], source_short_code: 'abc' }, ['source_short_code: must not be beside items']],
    [
      { items: [{}], visibility: 'private', expires_in: 60 },
      ['visibility: must be in each of the items', 'expires_in: must be in each of the items'],
    ],
    [{ source_short_code: '../x' }, ['source_short_code: must be a short code']],
    [
      { source_short_code: 'abc', expires_in: 5 },
      ['expires_in: must be whole seconds from 60 to 31536000, or "never"'],
    ],
    [{ source_short_code: 'abc', visibility: 'all' }, ['visibility: must be one of unlisted, private']],
    [[], [': must be a JSON object']],
  ])('%j are refused', (parameters, faults) => {
    expect(faultsOf('import', parameters)).toEqual(faults);
  });

  it('do not have other fields', () => {
    expect(faultsOf('import', { items: [{}], colour: 'red' })).toHaveLength(1);
  });
});

describe('the parameters of an export', () => {
  it('are a zip of everything unless told', () => {
    expect(jobTypes.get('export')!.parameters.parse({})).toEqual({ format: 'zip' });
  });

  it.each([
    [{ format: 'rar' }, ['format: must be one of zip, tar.gz, ndjson']],
    [{ status: 'DONE' }, ['status: must be one of IN_PROGRESS, PROCESSED, FAILED']],
    [{ created_after: 'yesterday' }, ['created_after: must be a time of RFC 3339']],
    [
      { created_after: '2026-01-02T00:00:00Z', created_before: '2026-01-02T01:00:00+02:00' },
      ['created_before: must be later than created_after'],
    ],
  ])('%j are refused', (parameters, faults) => {
    expect(faultsOf('export', parameters)).toEqual(faults);
  });
});

describe('parameters', () => {
  it('mean the same when they are read once more from where they were stored', () => {
    for (const { parameters, example } of jobTypes.values()) {
      const once = parameters.parse(example);
      expect(parameters.parse(JSON.parse(JSON.stringify(once)))).toEqual(once);
    }
  });
});
