import { type Database, ensureUser, findUserName } from '@pasteflow/postgres';
import { LRUCache } from 'lru-cache';
import type { IdentifiedUser } from '../http/request/caller.ts';
import { type AccessTokenRules, verifyAccessToken } from './access-tokens.ts';

/** About 100 bytes each. */
const MAX_KNOWN_USERS = 10_000;

/** A user who was removed from the table is created again at the first request after this. */
const KNOWN_FOR_MS = 10 * 60_000;

/** The users of the identity provider. A subject becomes a user at its first request. */
export class OidcUsers {
  readonly #db: Database;
  readonly #rules: AccessTokenRules;
  /** Ids by name. */
  readonly #known = new LRUCache<string, string>({
    maxSize: MAX_KNOWN_USERS, // `max` would reserve the room of all of them at once
    sizeCalculation: () => 1,
    ttl: KNOWN_FOR_MS,
  });

  constructor(db: Database, rules: AccessTokenRules) {
    this.#db = db;
    this.#rules = rules;
  }

  /** The user of a token; null for an invalid one. @throws DependencyUnavailableError */
  async find(token: string): Promise<IdentifiedUser | null> {
    const found = await verifyAccessToken(token, this.#rules);
    if (found === null) return null;
    const { subject, expiresAtMs } = found;
    const userId = await this.#idOf(nameOfSubject(this.#rules.issuer, subject));
    return { userId, tokenId: null, scope: 'full', credential: { kind: 'signed', expiresAtMs } };
  }

  async #idOf(name: string): Promise<string> {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const id = await ensureUser(this.#db, name);
    this.#known.set(name, id);
    return id;
  }
}

/** The name of the user who is this subject of the identity provider. */
export function nameOfSubject(issuer: string, subject: string): string {
  return `${issuer}#${subject}`;
}

/**
 * The name of a user for the header of a page. Users of the identity provider are named ISSUER#SUBJECT
 * (OidcUsers); they know themselves by the subject.
 */
export async function nameOfUser(db: Database, userId: string): Promise<string> {
  const name = (await findUserName(db, userId)) ?? '';
  const [, subject] = /^https?:\/\/[^#]+#(.+)$/.exec(name) ?? [];
  return subject ?? name;
}
