import { describe, expect, it } from '@jest/globals';
import { ConfigError, loadConfig } from '@pasteflow/runtime';
import { configSchema } from '../src/config.ts';
import type { IdentityConfig } from '../src/sessions/identity-env.ts';

const load = (env: Record<string, string>): IdentityConfig =>
  loadConfig(configSchema, {
    DATABASE_URL: 'postgres://localhost/pasteflow',
    AWS_ENDPOINT_URL: 'http://127.0.0.1:4566',
    ...env,
  }).identity;

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    load(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const client = { OIDC_ISSUER: 'https://a.org', OIDC_CLIENT_ID: 'a' };

describe('the configuration of identity', () => {
  it('allows anonymous pastes and has no identity provider by default', () => {
    expect(load({})).toEqual({ anonymousPastes: 'allow', oidc: null });
  });

  it('reads both settings of the identity provider', () => {
    const env = { OIDC_ISSUER: 'https://login.example.org/realms/a/', OIDC_AUDIENCE: 'pasteflow' };
    expect(load({ ...env, ANONYMOUS_PASTES: 'deny' })).toEqual({
      anonymousPastes: 'deny',
      oidc: {
        issuer: 'https://login.example.org/realms/a/',
        audience: 'pasteflow',
        client: null,
        nameClaim: 'name',
      },
    });
  });

  it('reads the client for the sign-in of browsers, with or without access tokens of programs', () => {
    const issuer = 'https://login.example.org';
    const env = { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: 'pasteflow' };
    expect(load(env).oidc).toEqual({
      issuer,
      audience: null,
      client: { id: 'pasteflow', secret: null, scopes: 'openid profile' },
      nameClaim: 'name',
    });
    const more = { OIDC_AUDIENCE: 'api', OIDC_CLIENT_SECRET: 'x', OIDC_NAME_CLAIM: 'off' };
    expect(load({ ...env, ...more }).oidc).toEqual({
      issuer,
      audience: 'api',
      client: { id: 'pasteflow', secret: 'x', scopes: 'openid' },
      nameClaim: null,
    });
  });

  it.each<[Record<string, string>, RegExp]>([
    [
      { OIDC_ISSUER: 'https://login.example.org' },
      /^OIDC_AUDIENCE is missing; set it to .*, or unset OIDC_ISSUER$/,
    ],
    [{ OIDC_AUDIENCE: 'pasteflow' }, /^OIDC_ISSUER is missing; set it to .*, or unset OIDC_AUDIENCE$/],
    [
      { OIDC_ISSUER: 'login.example.org', OIDC_AUDIENCE: 'a' },
      /^OIDC_ISSUER is not a URL that starts with http:\/\/ or https:\/\//,
    ],
    [{ OIDC_ISSUER: 'https://a.org/?b', OIDC_AUDIENCE: 'a' }, /^OIDC_ISSUER has a query/],
    [{ OIDC_ISSUER: 'https://a.org/#b', OIDC_AUDIENCE: 'a' }, /^OIDC_ISSUER has a query, a fragment/],
    [{ OIDC_ISSUER: 'https://user:secret@a.org', OIDC_AUDIENCE: 'a' }, /^OIDC_ISSUER has .*credentials/],
    [{ OIDC_CLIENT_ID: 'a' }, /^OIDC_ISSUER is missing; .* or unset OIDC_CLIENT_ID$/],
    [{ OIDC_CLIENT_SECRET: 'secret' }, /^OIDC_CLIENT_ID is missing; .* or unset OIDC_CLIENT_SECRET$/],
    [{ ...client, OIDC_AUDIENCE: 'a' }, /^OIDC_CLIENT_ID is the same as OIDC_AUDIENCE/],
    [{ ...client, API_HOST: '0.0.0.0' }, /^PUBLIC_URL is missing; .* or unset OIDC_CLIENT_ID$/],
    [{ ANONYMOUS_PASTES: 'no' }, /^ANONYMOUS_PASTES is "no"; set it to allow or deny$/],
  ])('refuses %j with one clear line', (env, message) => {
    const problems = problemsOf(env);
    expect(problems).toEqual([expect.stringMatching(message)]);
    expect(problems.join()).not.toContain('secret');
  });
});
