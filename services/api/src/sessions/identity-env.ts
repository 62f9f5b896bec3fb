import { isLoopback, oneOf, secret, text, type Logger } from '@pasteflow/runtime';
import { issuerUrl, IdentityProvider, type OidcClient } from '@pasteflow/http-kit/sign-in';
import { z } from 'zod';
import type { Database } from '@pasteflow/postgres';
import { IssuerKeys } from './issuer-keys.ts';
import { OidcUsers } from './oidc-users.ts';

export interface IdentityConfig {
  readonly anonymousPastes: 'allow' | 'deny';
  /** Null: api tokens only. */
  readonly oidc: OidcConfig | null;
}

const settings = z.object({
  ANONYMOUS_PASTES: oneOf(['allow', 'deny']).default('allow'),
  OIDC_ISSUER: issuerUrl().optional(),
  OIDC_AUDIENCE: text('the aud claim of the tokens').optional(),
  OIDC_CLIENT_ID: text('the id of the client of this service').optional(),
  OIDC_CLIENT_SECRET: secret('the secret of that client').optional(),
  OIDC_NAME_CLAIM: text('the claim with the name of a person, or off').default('name'),
  API_HOST: z.string().default('127.0.0.1'),
  PUBLIC_URL: z.string().optional(),
});

/** Every provider gives the subject for `openid`, and the names of a person for `profile`. */
const SCOPES = { nameless: 'openid', named: 'openid profile' };

type Settings = z.output<typeof settings>;

/** Who the callers are. Each setting that can't work with the others is an error that names it. */
export const identityEnv: z.ZodType<IdentityConfig> = settings.transform((env, context) => {
  for (const [path, message] of problemsOf(env)) context.addIssue({ code: 'custom', path: [path], message });
  return { anonymousPastes: env.ANONYMOUS_PASTES, oidc: oidcOf(env) };
});

function oidcOf(env: Settings): OidcConfig | null {
  if (env.OIDC_ISSUER === undefined) return null;
  const nameClaim = env.OIDC_NAME_CLAIM === 'off' ? null : env.OIDC_NAME_CLAIM;
  return {
    issuer: env.OIDC_ISSUER,
    audience: env.OIDC_AUDIENCE ?? null,
    client:
      env.OIDC_CLIENT_ID === undefined
        ? null
        : {
            id: env.OIDC_CLIENT_ID,
            secret: env.OIDC_CLIENT_SECRET ?? null,
            scopes: nameClaim === null ? SCOPES.nameless : SCOPES.named,
          },
    nameClaim,
  };
}

type Problem = readonly [setting: keyof Settings, message: string];

function problemsOf(env: Settings): readonly Problem[] {
  const problems: Problem[] = [];
  if (env.OIDC_ISSUER !== undefined && env.OIDC_AUDIENCE === undefined && env.OIDC_CLIENT_ID === undefined)
    problems.push([
      'OIDC_AUDIENCE',
      'is missing; set it to the aud claim of the tokens for this api, or set OIDC_CLIENT_ID for the sign-in of browsers, or unset OIDC_ISSUER',
    ]);
  for (const name of ['OIDC_AUDIENCE', 'OIDC_CLIENT_ID'] as const)
    if (env.OIDC_ISSUER === undefined && env[name] !== undefined)
      problems.push([
        'OIDC_ISSUER',
        `is missing; set it to the URL of the identity provider, or unset ${name}`,
      ]);
  if (env.OIDC_CLIENT_ID === undefined && env.OIDC_CLIENT_SECRET !== undefined)
    problems.push([
      'OIDC_CLIENT_ID',
      'is missing; set it to the id of the client of this service, or unset OIDC_CLIENT_SECRET',
    ]);
  if (env.OIDC_CLIENT_ID === undefined) return problems;
  // The aud of an ID token is the client: with such an audience ID tokens would count as access tokens.
  if (env.OIDC_CLIENT_ID === env.OIDC_AUDIENCE)
    problems.push(['OIDC_CLIENT_ID', 'is the same as OIDC_AUDIENCE; set OIDC_AUDIENCE to another one']);
  if (env.PUBLIC_URL === undefined && !isLoopback(env.API_HOST))
    problems.push([
      'PUBLIC_URL',
      'is missing; set it to the URL at which browsers reach the service, to which the identity provider sends them back, or unset OIDC_CLIENT_ID',
    ]);
  return problems;
}

/** The operator's identity provider. */
interface OidcConfig {
  readonly issuer: string;
  /** Of the access tokens that programs send; null: they can't use any. */
  readonly audience: string | null;
  /** For the sign-in of browsers; null: they can't use the provider. */
  readonly client: OidcClient | null;
  /** The claim with what people are called; null: nothing is kept of it. */
  readonly nameClaim: string | null;
}

/**
 * What of the identity provider is in use.
 * @param config null: the operator has configured no identity provider
 */
export function composeOidc(
  config: OidcConfig | null,
  {
    db,
    logger,
    publicUrl,
    cooldownMs,
    requestTimeoutMs,
  }: {
    readonly db: Database;
    readonly logger: Logger;
    /** Where browsers reach the service. */
    readonly publicUrl: () => string;
    readonly cooldownMs: number | undefined;
    readonly requestTimeoutMs: number | undefined;
  },
): { readonly users: OidcUsers | null; readonly provider: IdentityProvider | null } {
  if (config === null) return { users: null, provider: null };
  const { issuer, audience, client, nameClaim } = config;
  const redirectUri = (): string => `${publicUrl()}/session/oidc/callback`;
  const keys = new IssuerKeys({
    issuer,
    cooldownMs,
    onError: (error) => logger.warn('signing keys not renewed', { issuer, error }),
    onUnusableKey: (kid, error) =>
      logger.warn('signing key unusable; its tokens are refused', { issuer, kid, error }),
  });
  return {
    users: audience === null ? null : new OidcUsers(db, { issuer, audience, keys }),
    provider:
      client === null
        ? null
        : new IdentityProvider({ issuer, client, redirectUri, requestTimeoutMs, nameClaim }),
  };
}
