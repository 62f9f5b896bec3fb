import { describe, expect, test } from '@jest/globals';
import type { Settings } from '../aws/configuration.ts';
import { configurations } from '../aws/configurations.ts';
import { containers, deployment } from './support/deployments.ts';

const production = deployment('production');

describe('the settings of a service', () => {
  const { environment } = configurations.production;
  const settings = (name: string, one: ReturnType<typeof deployment>) =>
    Object.fromEntries(
      containers(one, 'services')
        .filter(({ Name }) => Name === name)
        .flatMap(({ Environment }) => Environment.map(({ Name, Value }) => [Name, Value])),
    ) as Record<string, unknown>;

  test('give the janitor the address of the api, for the links of invitations', () => {
    const [api, janitor] = ['api', 'janitor'].map((name) => settings(name, production)['PUBLIC_URL']);
    expect(api).toMatch(/^https:\/\//);
    expect(janitor).toBe(api);
  });

  test('come from the configuration of the service, then from that of all services, then from the defaults of the stack', () => {
    const one = deployment('production', {
      environment: {
        ...environment,
        all: { OTEL_TRACES_SAMPLER: 'always_off', LOG_LEVEL: 'warn' },
        api: { OIDC_ISSUER: 'https://login.example.org', OIDC_AUDIENCE: 'pasteflow', TRUST_PROXY: '2' },
        janitor: { RECONCILE_MIN_AGE_SECONDS: '2592000', LOG_LEVEL: 'debug' },
      },
    });
    expect(settings('api', one)).toMatchObject({
      OIDC_ISSUER: 'https://login.example.org',
      TRUST_PROXY: '2',
      LOG_LEVEL: 'warn',
      S3_BUCKET: expect.anything(),
    });
    expect(settings('janitor', one)).toMatchObject({
      RECONCILE_MIN_AGE_SECONDS: '2592000',
      LOG_LEVEL: 'debug',
      OTEL_TRACES_SAMPLER: 'always_off',
    });
    expect(settings('upload-worker', one)).not.toHaveProperty('RECONCILE_MIN_AGE_SECONDS');
  });

  test('stop the synthesis when no service reads them, or when the stacks set them', () => {
    expect(() =>
      deployment('production', { environment: { ...environment, api: { OICD_ISSUER: 'https://a' } } }),
    ).toThrow('no service reads OICD_ISSUER');
    const retired = { CLEANUP_INTERVAL_SECONDS: '60' };
    expect(() => deployment('production', { environment: { ...environment, janitor: retired } })).toThrow(
      'remove CLEANUP_INTERVAL_SECONDS, which is retired; in a service it still has its effect: write cleanup=… into',
    );
    const bucket = { S3_BUCKET: 'other' } as unknown as Settings;
    expect(() => deployment('production', { environment: { ...environment, all: bucket } })).toThrow(
      'S3_BUCKET is set by the stacks',
    );
  });

  test('make URLs of archives expire before the credentials that signed them', () => {
    expect(settings('api', production)).toMatchObject({ ASSET_URL_SECONDS: '300' });
  });
});
