import { ensureUser, type Database } from '@pasteflow/postgres';
import type { AccessTokens } from './access-tokens.ts';

/** A hundred bytes each. */
const MAX_KNOWN_USERS = 10_000;

/** A user who has been removed from the table behind the api's back is made anew after this. */
const KNOWN_FOR_MS = 10 * 60_000;

interface KnownUser {
  readonly id: string;
  readonly untilMs: number;
}

/** The users that the identity provider vouches for. A subject becomes a user on first sight. */
export class OidcUsers {
  readonly #db: Database;
  readonly #tokens: AccessTokens;
  /** By name, the one seen longest ago first. */
  readonly #known = new Map<string, KnownUser>();

  constructor(db: Database, tokens: AccessTokens) {
    this.#db = db;
    this.#tokens = tokens;
  }

  /** Whose the token is; null for one that isn't good. @throws DependencyUnavailableError */
  async find(token: string): Promise<{ readonly userId: string; readonly tokenId: null } | null> {
    const subject = await this.#tokens.subjectOf(token);
    if (subject === null) return null;
    return { userId: await this.#idOf(`${this.#tokens.issuer}#${subject}`), tokenId: null };
  }

  async #idOf(name: string): Promise<string> {
    const known = this.#known.get(name);
    const now = performance.now();
    const user =
      known !== undefined && known.untilMs > now
        ? known
        : { id: await ensureUser(this.#db, name), untilMs: now + KNOWN_FOR_MS };
    this.#known.delete(name);
    this.#known.set(name, user);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN_USERS && oldest !== undefined) this.#known.delete(oldest);
    return user.id;
  }
}
