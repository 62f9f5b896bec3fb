import type { Request } from 'express';
import type { Database } from '@pasteflow/postgres';
import type { Caller, IdentifiedUser } from '../http/request/caller.ts';
import { clientAddressOf } from '../http/request/client-address.ts';
import { findUserOfToken, isApiToken } from './api-token.ts';
import { findUserOfSession } from './browser-sessions.ts';
import { bearerTokenOf, invalidToken, sessionEnded } from './authorization.ts';
import type { OidcUsers } from './oidc-users.ts';
import type { SessionCookie } from './session-cookie.ts';

export interface IdentifyDependencies {
  readonly db: Database;
  /** Null: tokens of an identity provider are not accepted. */
  readonly oidc: OidcUsers | null;
}

/** Finds the user of a token; null for an invalid one. @throws DependencyUnavailableError */
export function createFindUser({
  db,
  oidc,
}: IdentifyDependencies): (token: string) => Promise<IdentifiedUser | null> {
  return async (token) =>
    oidc === null || isApiToken(token) ? await findUserOfToken(db, token) : await oidc.find(token);
}

/**
 * Identifies the caller of a request by the Authorization header or, without one, by the cookie of a browser
 * that is signed in, with at most one statement.
 * @throws RequestError unauthorized for invalid credentials; DependencyUnavailableError when they can't be
 *   checked
 */
export function createIdentify({
  db,
  findUser,
  sessions,
}: {
  readonly db: Database;
  readonly findUser: (token: string) => Promise<IdentifiedUser | null>;
  readonly sessions: Pick<SessionCookie, 'secretOf'>;
}): (req: Request) => Promise<Caller> {
  return async (req) => {
    const address = clientAddressOf(req);
    const token = bearerTokenOf(req);
    const secret = sessions.secretOf(req);
    if (token === null && secret === null) return { kind: 'anonymous', address };
    const user = token === null ? await findUserOfSession(db, secret ?? '') : await findUser(token);
    if (user === null) throw token === null ? sessionEnded() : invalidToken();
    return { kind: 'user', ...user, address };
  };
}
