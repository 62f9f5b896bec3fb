import type { Request } from 'express';
import type { Database } from '@pasteflow/postgres';
import type { Caller } from '../http/request/caller.ts';
import { clientAddressOf } from '../http/request/client-address.ts';
import { findUserOfToken, isApiToken } from './api-token.ts';
import { bearerTokenOf, invalidToken } from './authorization.ts';
import type { OidcUsers } from './oidc-users.ts';

export interface IdentifyDependencies {
  readonly db: Database;
  /** Null: the operator has named no identity provider. */
  readonly oidc: OidcUsers | null;
}

/**
 * Who sends a request: at most one statement.
 * @throws RequestError unauthorized for credentials that are not good, DependencyUnavailableError when nobody can tell
 */
export function createIdentify({ db, oidc }: IdentifyDependencies): (req: Request) => Promise<Caller> {
  return async (req) => {
    const address = clientAddressOf(req);
    const token = bearerTokenOf(req);
    if (token === null) return { kind: 'anonymous', address };
    const user =
      oidc === null || isApiToken(token) ? await findUserOfToken(db, token) : await oidc.find(token);
    if (user === null) throw invalidToken();
    return { kind: 'user', ...user, address };
  };
}
