import { describe, expect, it } from '@jest/globals';
import { ConfigError, loadConfig } from '@pasteflow/runtime';
import { configSchema, type IdentityConfig } from '../src/config.ts';

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

describe('the configuration of identity', () => {
  it('allows anonymous pastes and has no identity provider by default', () => {
    expect(load({})).toEqual({ anonymousPastes: 'allow', oidc: null });
  });

  it('reads both settings of the identity provider', () => {
    const env = { OIDC_ISSUER: 'https://login.example.org/realms/a/', OIDC_AUDIENCE: 'pasteflow' };
    expect(load({ ...env, ANONYMOUS_PASTES: 'deny' })).toEqual({
      anonymousPastes: 'deny',
      oidc: { issuer: 'https://login.example.org/realms/a/', audience: 'pasteflow' },
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
    [{ ANONYMOUS_PASTES: 'no' }, /^ANONYMOUS_PASTES is "no"; set it to allow or deny$/],
  ])('refuses %j with one clear line', (env, message) => {
    const problems = problemsOf(env);
    expect(problems).toEqual([expect.stringMatching(message)]);
    expect(problems.join()).not.toContain('secret');
  });
});
