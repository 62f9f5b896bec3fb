import { expect, it } from '@jest/globals';
import { loadConfig, logEnv, metricsEnv } from '../src/index.ts';

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
