import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import {
  ConfigError,
  flag,
  groups,
  intervalSeconds,
  listOf,
  loadConfig,
  logEnv,
  metricsEnv,
  milliseconds,
  millisecondsList,
  oneOf,
  port,
  positiveInteger,
  seconds,
  secret,
  text,
  url,
  type Environment,
  type Variable,
} from '../src/index.ts';

function problemsOf(schema: z.ZodType, env: Environment): readonly string[] {
  try {
    loadConfig(schema, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('loadConfig', () => {
  it('names every problem in one message, one line for each', () => {
    const schema = groups({
      server: z.object({ API_PORT: port(), PUBLIC_URL: url(['https:'], 'https://example.org') }),
      work: z.object({ UPLOAD_CONCURRENCY: positiveInteger().default(4) }),
    });
    const env = { API_PORT: '70000', UPLOAD_CONCURRENCY: 'four' };
    expect(() => loadConfig(schema, env)).toThrow(
      new ConfigError([
        'API_PORT is "70000"; set it to a port from 0 to 65535 (0: any free port)',
        'PUBLIC_URL is missing; set it to a URL like https://example.org',
        'UPLOAD_CONCURRENCY is "four"; set it to a whole number from 1',
      ]),
    );
    expect(() => loadConfig(schema, env)).toThrow(
      /^The configuration has 3 problems:\n {2}API_PORT is "70000"; .*\n {2}PUBLIC/,
    );
  });

  it('treats an empty or blank value as unset', () => {
    const schema = z.object({ A: text().default('default'), B: text().default('default'), C: text() });
    expect(loadConfig(schema, { A: '', B: ' \t', C: ' kept ' })).toEqual({
      A: 'default',
      B: 'default',
      C: 'kept',
    });
    expect(problemsOf(z.object({ C: text('a name') }), { C: '' })).toEqual([
      'C is missing; set it to a name',
    ]);
  });

  it('reports a problem once although two groups read the variable', () => {
    const schema = groups({ a: z.object({ PORT: port() }), b: z.object({ PORT: port() }) });
    expect(problemsOf(schema, {})).toHaveLength(1);
  });

  it('returns the values of each group under the name of the group', () => {
    const schema = groups({
      a: z.object({ PORT: port() }),
      b: z.object({ NAME: text() }).transform((env) => env.NAME),
    });
    expect(loadConfig(schema, { PORT: '1', NAME: 'n', OTHER: 'x' })).toEqual({ a: { PORT: 1 }, b: 'n' });
  });

  it('hides the value of an invalid secret', () => {
    const schema = z.object({ TOKEN: secret('8 or more characters', ({ length }) => length >= 8) });
    expect(loadConfig(schema, { TOKEN: '12345678' })).toEqual({ TOKEN: '12345678' });
    expect(problemsOf(schema, { TOKEN: 'hunter2' })).toEqual([
      'TOKEN is not valid (the value is not shown); set it to 8 or more characters',
    ]);
    expect(problemsOf(schema, {})).toEqual(['TOKEN is missing; set it to 8 or more characters']);
  });

  it('hides the value of an invalid URL, which may contain a password', () => {
    const schema = z.object({ DATABASE_URL: url(['postgres:'], 'postgres://localhost/pasteflow') });
    expect(problemsOf(schema, { DATABASE_URL: 'mysql://me:hunter2@db/x' })).toEqual([
      'DATABASE_URL is not a URL that starts with postgres://; set it to a URL like postgres://localhost/pasteflow',
    ]);
  });
});

describe('a variable', () => {
  it.each<[string, Variable<unknown>, string, unknown]>([
    ['a port', port(), '0', 0],
    ['a port', port(), '65535', 65_535],
    ['a number', positiveInteger(), '10485760', 10_485_760],
    ['milliseconds', milliseconds(), '0', 0],
    ['seconds', seconds(), '0.5', 0.5],
    ['a list', millisecondsList(), '1000, 2000,0', [1000, 2000, 0]],
    ['choices', listOf(['uploads', 'jobs']), 'jobs, uploads', ['jobs', 'uploads']],
    ['a flag', flag(), 'TRUE', true],
    ['a flag', flag(), '0', false],
    ['a choice', oneOf(['json', 'pretty']), 'json', 'json'],
    ['a URL', url(['http:', 'https:'], 'http://x'), 'https://[::1]:4566/a', 'https://[::1]:4566/a'],
  ])('reads %s', (_kind, variable, written, value) => {
    expect(loadConfig(z.object({ X: variable }), { X: written })).toEqual({ X: value });
  });

  it.each<[string, Variable<unknown>, string]>([
    ['a port above 65535', port(), '65536'],
    ['a negative port', port(), '-1'],
    ['a port in hexadecimal', port(), '0x50'],
    ['a fraction as a whole number', positiveInteger(), '1.5'],
    ['zero as a positive number', positiveInteger(), '0'],
    ['a number that JavaScript cannot represent exactly', positiveInteger(), '99999999999999999999'],
    ['more milliseconds than a timer allows', milliseconds(), '2147483648'],
    ['zero seconds', seconds(), '0'],
    ['seconds with a unit', seconds(), '60s'],
    ['an interval longer than a timer allows', intervalSeconds(), '3000000'],
    ['a list with a gap', millisecondsList(), '1000,,2000'],
    ['a list with a word', millisecondsList(), '1000,two'],
    ['a list with an unknown choice', listOf(['uploads', 'jobs']), 'jobs,mail'],
    ['a list of choices with a gap', listOf(['uploads', 'jobs']), 'jobs,'],
    ['a list with a repeated choice', listOf(['uploads', 'jobs']), 'jobs,jobs'],
    ['the word maybe as a flag', flag(), 'maybe'],
    ['a choice in upper case', oneOf(['json']), 'JSON'],
    ['a URL of another protocol', url(['http:'], 'http://x'), 'ftp://x'],
    ['a value that is not a URL', url(['http:'], 'http://x'), 'localhost:4566'],
  ])('refuses %s', (_kind, variable, written) => {
    expect(problemsOf(z.object({ X: variable }), { X: written })).toEqual([
      expect.stringMatching(/^X is .*; set it to /),
    ]);
  });
});

it("metrics are served on 127.0.0.1 at the service's default port unless the environment sets another address", () => {
  expect(loadConfig(metricsEnv(9464), {})).toEqual({ host: '127.0.0.1', port: 9464 });
  const env = { METRICS_HOST: '0.0.0.0', METRICS_PORT: '0' };
  expect(loadConfig(metricsEnv(9464), env)).toEqual({ host: '0.0.0.0', port: 0 });
});

it('the log is JSON in production, even on a terminal', () => {
  expect(loadConfig(logEnv, { NODE_ENV: 'production' })).toEqual({ level: 'info', format: 'json' });
  expect(loadConfig(logEnv, { LOG_LEVEL: 'debug', LOG_FORMAT: 'pretty', NODE_ENV: 'production' })).toEqual({
    level: 'debug',
    format: 'pretty',
  });
  expect(() => loadConfig(logEnv, { LOG_LEVEL: 'loud' })).toThrow('set it to error or warn or info or debug');
});
