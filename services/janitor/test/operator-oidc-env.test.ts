import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '@pasteflow/runtime';
import { loadJanitorConfig } from '../src/config.ts';

const env = {
  DATABASE_URL: 'postgres://127.0.0.1/pasteflow',
  AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
  OPS_PORT: '9467',
  OPS_URL: 'http://ops.example.org',
  OPS_OIDC_ISSUER: 'https://login.example.org',
  OPS_OIDC_CLIENT_ID: 'operations',
  OPS_OIDC_READ: 'support',
  OPS_OIDC_ACT: 'operators',
};

describe('the settings of the identity provider', () => {
  const load = (changed: Record<string, string>) => loadJanitorConfig({ ...env, ...changed });

  it('make the page usable from other machines without a token', () => {
    const { operations } = load({ OPS_HOST: '0.0.0.0' });
    expect(operations).toMatchObject({
      token: null,
      oidc: { issuer: env.OPS_OIDC_ISSUER, claim: 'groups', read: 'support', act: 'operators' },
    });
  });

  it.each([
    [{ OPS_OIDC_CLIENT_ID: '' }, /OPS_OIDC_CLIENT_ID is missing/],
    [{ OPS_OIDC_ISSUER: '' }, /OPS_OIDC_ISSUER is missing; .* or unset OPS_OIDC_ACT/],
    [{ OPS_OIDC_READ: '', OPS_OIDC_ACT: '' }, /OPS_OIDC_ACT is missing/],
    [{ OPS_OIDC_READ: 'operators' }, /OPS_OIDC_READ is the same as OPS_OIDC_ACT/],
    [{ OPS_URL: '' }, /OPS_URL is missing; .*identity provider/],
    [{ OPS_OIDC_ISSUER: 'https://login.example.org?x' }, /OPS_OIDC_ISSUER has a query/],
    [{ OPS_OIDC_SCOPES: 'groups' }, /OPS_OIDC_SCOPES has no openid/],
    [{ OPS_OIDC_SCOPES: 'openid,groups' }, /OPS_OIDC_SCOPES has no openid/],
    [{ OPS_OIDC_SCOPES: 'openid  groups' }, /OPS_OIDC_SCOPES is no list of scopes/],
  ])('%j are refused at the start', (changed, message) => {
    expect(() => load(changed)).toThrow(ConfigError);
    expect(() => load(changed)).toThrow(message);
  });
});
