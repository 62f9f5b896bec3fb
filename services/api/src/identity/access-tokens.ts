import { errors, jwtVerify } from 'jose';
import type { IssuerKeys } from './issuer-keys.ts';
import { isSubject } from './subject.ts';
import { isBearerAccessToken } from './token-kind.ts';

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

/** The allowed difference between the issuer's clock and ours. */
export const CLOCK_TOLERANCE_SECONDS = 5;

/** Verifies JWT access tokens of one issuer for one audience. */
export class AccessTokens {
  readonly issuer: string;
  readonly #audience: string;
  readonly #keys: IssuerKeys;

  constructor({ issuer, audience, keys }: { issuer: string; audience: string; keys: IssuerKeys }) {
    this.issuer = issuer;
    this.#audience = audience;
    this.#keys = keys;
  }

  /**
   * The subject of a token, and when the token expires; null when the token is not signed by the issuer with a usable key, is no access token, not for this audience, or
   * not valid now.
   * @throws DependencyUnavailableError when the issuer's keys are unavailable
   */
  async verify(token: string): Promise<{ readonly subject: string; readonly expiresAtMs: number } | null> {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.#keys.keyFor, {
        issuer: this.issuer,
        audience: this.#audience,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        requiredClaims: ['sub', 'exp'],
      });
      if (!isBearerAccessToken(protectedHeader, payload)) return null;
      const { sub: subject, exp = 0 } = payload;
      return isSubject(subject) ? { subject, expiresAtMs: exp * 1000 } : null;
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }
}
