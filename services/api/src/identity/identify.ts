import type { Request } from 'express';
import type { Database } from '@pasteflow/postgres';
import type { Caller } from '../http/request/caller.ts';
import { clientAddressOf } from '../http/request/client-address.ts';
import { findUserOfToken, isApiToken } from './api-token.ts';
import { bearerTokenOf, invalidToken, sessionEnded } from './authorization.ts';
import type { OidcUsers } from './oidc-users.ts';
import type { Sessions } from './sessions.ts';

export interface IdentifyDependencies {
  readonly db: Database;
  /** Null: tokens of an identity provider are not accepted. */
  readonly oidc: OidcUsers | null;
}

/** The user of a token. */
export interface TokenUser {
  readonly userId: string;
  /** The id of the API token; null for a token of the operator's identity provider, and for a browser that it signed in. */
  readonly tokenId: string | null;
}

/** Finds the user of a token; null for an invalid one. @throws DependencyUnavailableError */
export function createFindUser({
  db,
  oidc,
}: IdentifyDependencies): (token: string) => Promise<TokenUser | null> {
  return async (token) =>
    oidc === null || isApiToken(token) ? await findUserOfToken(db, token) : await oidc.find(token);
}

/**
 * Identifies the caller of a request by the Authorization header or, without one, by the cookie of a browser that
 * is signed in, with at most one statement.
 * @throws RequestError unauthorized for invalid credentials; DependencyUnavailableError when they can't be
 * checked
 */
export function createIdentify(
  findUser: (token: string) => Promise<TokenUser | null>,
  sessions: Pick<Sessions, 'tokenOf'>,
): (req: Request) => Promise<Caller> {
  return async (req) => {
    const address = clientAddressOf(req);
    const bearer = bearerTokenOf(req);
    const token = bearer ?? sessions.tokenOf(req);
    if (token === null) return { kind: 'anonymous', address };
    const user = await findUser(token);
    if (user === null) throw bearer === null ? sessionEnded() : invalidToken();
    return { kind: 'user', ...user, address };
  };
}
