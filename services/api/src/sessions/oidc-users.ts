import { type Database, ensureUser, findUserId } from '@pasteflow/postgres';
import { errors, type JWTHeaderParameters, type JWTPayload, jwtVerify } from 'jose';
import { CLOCK_TOLERANCE_SECONDS, isFromFuture, isSubject } from '@pasteflow/http-kit/sign-in';
import type { IdentifiedUser } from '../http/callers/caller.ts';
import type { IssuerKeys } from './issuer-keys.ts';

/** The users of the identity provider. A subject becomes a user at its first request. */
export class OidcUsers {
  readonly #db: Database;
  readonly #rules: AccessTokenRules;

  constructor(db: Database, rules: AccessTokenRules) {
    this.#db = db;
    this.#rules = rules;
  }

  /** The user of a token; null for an invalid one. @throws DependencyUnavailableError */
  async find(token: string): Promise<IdentifiedUser | null> {
    const found = await verifyAccessToken(token, this.#rules);
    if (found === null) return null;
    const { subject, expiresAtMs } = found;
    const name = nameOfSubject(this.#rules.issuer, subject);
    // Read for every request: after an erasure the name is that of a new user. Only ensureUser locks the row.
    const userId = (await findUserId(this.#db, name)) ?? (await ensureUser(this.#db, name));
    return { userId, tokenId: null, scope: 'full', credential: { kind: 'signed', expiresAtMs } };
  }
}

/** The name of the user who is this subject of the identity provider. */
export function nameOfSubject(issuer: string, subject: string): string {
  return `${issuer}#${subject}`;
}

/** Asymmetric signatures only: with HS256 the public key would be the secret, and `none` is unsigned. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** What the access tokens of an identity provider are verified with. */
interface AccessTokenRules {
  readonly issuer: string;
  readonly audience: string;
  readonly keys: IssuerKeys;
}

/**
 * The subject of a JWT access token, and when the token expires; null when the token is not signed by the
 * issuer with a usable key, is no access token, not for this audience, or not valid now.
 * @throws DependencyUnavailableError when the issuer's keys are unavailable
 */
async function verifyAccessToken(
  token: string,
  { issuer, audience, keys }: AccessTokenRules,
): Promise<{ readonly subject: string; readonly expiresAtMs: number } | null> {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys.keyFor, {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      requiredClaims: ['sub', 'exp'],
    });
    if (!isBearerAccessToken(protectedHeader, payload) || isFromFuture(payload.iat)) return null;
    const { sub: subject, exp = 0 } = payload;
    return isSubject(subject) ? { subject, expiresAtMs: exp * 1000 } : null;
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

/** Claims that only ID tokens have (OpenID Connect Core, 2 and 3.3.2.11). */
const ID_TOKEN_CLAIMS = ['at_hash', 'c_hash', 's_hash'];

/**
 * Whether a JWT with a valid signature is an access token that any bearer may use: a provider signs other
 * tokens with the same key. `at+jwt` says so (RFC 9068, 2.1). Many providers send `JWT` for all kinds; then
 * the claims must not be those of an ID token or, with `events`, of a logout token (RFC 8417). A token that
 * is bound to a key (`cnf`; RFC 9449, RFC 8705) is refused, because the key is not checked.
 */
function isBearerAccessToken({ typ }: Pick<JWTHeaderParameters, 'typ'>, claims: JWTPayload): boolean {
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
 * Keycloak names the kind in the claim `typ` (up to version 24 its access tokens have a `nonce`, too),
 * Cognito in `token_use`. A provider that tells no kind, for a login without a nonce, leaves the audience:
 * that of an ID token is the client, which OIDC_AUDIENCE must not be.
 */
function isIdToken(claims: JWTPayload): boolean {
  const { typ: kind = null, token_use: use = 'access' } = claims;
  if (kind !== null && kind !== 'Bearer') return true;
  if (use !== 'access') return true;
  if (ID_TOKEN_CLAIMS.some((claim) => claim in claims)) return true;
  return 'nonce' in claims && kind === null;
}
