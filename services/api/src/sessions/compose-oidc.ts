import type { Database } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import { IdentityProvider, type OidcClient } from '@pasteflow/http-kit/sign-in';
import { IssuerKeys } from './issuer-keys.ts';
import { OidcUsers } from './oidc-users.ts';

/** The operator's identity provider. */
export interface OidcConfig {
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
