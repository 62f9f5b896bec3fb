import { describe, expect, it } from '@jest/globals';
import { loadJanitorConfig } from '../src/config.ts';

const intervals = (env: Record<string, string>) =>
  loadJanitorConfig({
    DATABASE_URL: 'postgres://127.0.0.1/pasteflow',
    AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
    ...env,
  }).sweepIntervalSeconds;

const standard = intervals({});

describe('SWEEP_INTERVALS', () => {
  it('changes the sweeps that it names, and no others', () => {
    expect(standard).toMatchObject({ cleanup: 60, relay: 2, reconcile: 86_400, 'state-metrics': 15 });
    expect(intervals({ SWEEP_INTERVALS: ' cleanup = 5 , dead-letters=0.5,state-metrics=1' })).toEqual({
      ...standard,
      cleanup: 5,
      'dead-letters': 0.5,
      'state-metrics': 1,
    });
  });

  it.each([
    'clean-up=5',
    'cleanup',
    'cleanup=',
    'cleanup=0',
    'cleanup=-1',
    'cleanup=1m',
    'cleanup=3000000',
    'cleanup=5=6',
    'cleanup=5,cleanup=6',
    'cleanup=5,',
    '60',
    'constructor=5',
  ])('is refused as %s, with the names of all sweeps', (list) => {
    expect(() => intervals({ SWEEP_INTERVALS: list })).toThrow(
      /SWEEP_INTERVALS is ".*"; set it to intervals in seconds above 0 .* cleanup=60.* the names are relay, reap-executions, .*, state-metrics/,
    );
  });

  it('goes before the variables of earlier releases, which still have their effect', () => {
    const retired = { CLEANUP_INTERVAL_SECONDS: '7', STATE_METRICS_INTERVAL_SECONDS: '8' };
    expect(intervals(retired)).toEqual({ ...standard, cleanup: 7, 'state-metrics': 8 });
    expect(intervals({ ...retired, SWEEP_INTERVALS: 'cleanup=9' })).toMatchObject({
      cleanup: 9,
      'state-metrics': 8,
    });
    expect(() => intervals({ DEAD_LETTERS_INTERVAL_SECONDS: '0' })).toThrow(
      'DEAD_LETTERS_INTERVAL_SECONDS is "0"',
    );
  });
});
