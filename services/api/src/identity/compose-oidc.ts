import type { Database } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import { AccessTokens } from './access-tokens.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { OidcUsers } from './oidc-users.ts';

/** The operator's identity provider. */
export interface OidcConfig {
  readonly issuer: string;
  readonly audience: string;
}

export function composeOidc(
  { issuer, audience }: OidcConfig,
  { db, logger, cooldownMs }: { db: Database; logger: Logger; cooldownMs: number | undefined },
): OidcUsers {
  const onError = (error: unknown): void => logger.warn('signing keys not renewed', { issuer, error });
  const onUnusableKey = (kid: string | undefined, error: unknown): void =>
    logger.warn('signing key unusable; its tokens are refused', { issuer, kid, error });
  const keys = new IssuerKeys({
    issuer,
    onError,
    onUnusableKey,
    ...(cooldownMs !== undefined && { cooldownMs }),
  });
  return new OidcUsers(db, new AccessTokens({ issuer, audience, keys }));
}
