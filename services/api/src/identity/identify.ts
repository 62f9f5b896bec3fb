import type { Request } from 'express';
import type { Database } from '@pasteflow/postgres';
import type { Caller } from '../http/request/caller.ts';
import { clientAddressOf } from '../http/request/client-address.ts';
import { findUserOfToken, isApiToken } from './api-token.ts';
import { bearerTokenOf, invalidToken } from './authorization.ts';
import type { OidcUsers } from './oidc-users.ts';

export interface IdentifyDependencies {
  readonly db: Database;
  /** Null: the operator has configured no identity provider. */
  readonly oidc: OidcUsers | null;
}

/**
 * Identifies the caller of a request, with at most one statement.
 * @throws RequestError unauthorized for invalid credentials; DependencyUnavailableError when they can't be
 * checked
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
