import { type Database, ensureUser, findUserId } from '@pasteflow/postgres';
import type { IdentifiedUser } from '../http/callers/caller.ts';
import { type AccessTokenRules, verifyAccessToken } from './access-tokens.ts';

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
