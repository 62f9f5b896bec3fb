import type { JWTHeaderParameters, JWTPayload } from 'jose';

/** Claims that only ID tokens have (OpenID Connect Core, 2 and 3.3.2.11). */
const ID_TOKEN_CLAIMS = ['at_hash', 'c_hash', 's_hash'];

/**
 * Whether a JWT with a valid signature is an access token that any bearer may use. An identity provider signs other tokens with the same
 * key, and some of them name the same audience.
 *
 * `at+jwt` says it (RFC 9068, 2.1). Many providers send `JWT` for all kinds of tokens; then the claims must not be those of an ID token.
 * A token without `typ` is refused. Proofs (`dpop+jwt`) and logout tokens (`logout+jwt`) have types of their own; older providers send
 * logout tokens as `JWT` with the claim `events` (RFC 8417). A token that is bound to a key (`cnf`; RFC 9449, RFC 8705) is refused,
 * because the key is not checked.
 */
export function isBearerAccessToken({ typ }: Pick<JWTHeaderParameters, 'typ'>, claims: JWTPayload): boolean {
  if ('cnf' in claims || 'events' in claims) return false;
  switch (mediaTypeOf(typ)) {
    case 'at+jwt':
      return true;
    case 'jwt':
      return !isIdToken(claims);
    default:
      return false;
  }
}

/** RFC 7515, 4.1.9: the prefix `application/` may be left out, and case does not matter. */
function mediaTypeOf(typ: unknown): string | null {
  return typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : null;
}

/**
 * Keycloak names the kind in the claim `typ` (up to version 24 its access tokens have a `nonce`, too), Cognito in `token_use`. A provider
 * that tells no kind, for a login without a nonce, leaves the audience: that of an ID token is the client, which OIDC_AUDIENCE must not be.
 */
function isIdToken(claims: JWTPayload): boolean {
  const { typ: kind = null, token_use: use = 'access' } = claims;
  if (kind !== null && kind !== 'Bearer') return true;
  if (use !== 'access') return true;
  if (ID_TOKEN_CLAIMS.some((claim) => claim in claims)) return true;
  return 'nonce' in claims && kind === null;
}
