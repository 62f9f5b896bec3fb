import type { Request } from 'express';
import type { ApiContext } from '../context.ts';
import { bearerTokenOf, invalidToken, sessionEnded } from '../http/callers/authorization.ts';
import type { Caller, FindUser, IdentifiedUser } from '../http/callers/caller.ts';
import { hashOfSecret, isApiToken, isSameHash, isSessionSecret } from '../http/callers/secret.ts';
import { clientAddressOf } from '../http/request/client-address.ts';
import type { OidcUsers } from './oidc-users.ts';

type UseToken = ApiContext['useToken'];

/**
 * Finds the user of a token; null for an invalid one. @throws DependencyUnavailableError
 * @param oidc null: tokens of an identity provider are not accepted
 */
export function createFindUser(useToken: UseToken, oidc: OidcUsers | null): FindUser {
  return async (token) => {
    if (isApiToken(token)) return await findStored(useToken, token, 'token');
    return (await oidc?.find(token)) ?? null;
  };
}

/**
 * Identifies the caller of a request by the Authorization header or, without one, by the cookie of a browser
 * that is signed in, with one statement; the first request of a user of the identity provider costs another.
 * @throws RequestError unauthorized for invalid credentials; DependencyUnavailableError when they can't be
 *   checked
 */
export async function identify({ useToken, findUser, sessions }: ApiContext, req: Request): Promise<Caller> {
  const address = clientAddressOf(req);
  const token = bearerTokenOf(req);
  if (token !== null) {
    const user = await findUser(token);
    if (user === null) throw invalidToken();
    return { kind: 'user', ...user, address };
  }
  const secret = sessions.secretOf(req);
  if (secret === null) return { kind: 'anonymous', address };
  const user = await findSession(useToken, secret);
  if (user === null) throw sessionEnded();
  return { kind: 'user', ...user, address };
}

/** The user of a session; null: it is unknown or has ended. */
export async function findSession(useToken: UseToken, secret: string): Promise<IdentifiedUser | null> {
  return isSessionSecret(secret) ? await findStored(useToken, secret, 'session') : null;
}

/**
 * The user of an API token or a session; null: it is unknown or has ended. The same statement records the
 * use. The sessions of a user share the limits of the user, so that signing in again gets no further limits.
 */
async function findStored(
  useToken: UseToken,
  secret: string,
  kind: 'token' | 'session',
): Promise<IdentifiedUser | null> {
  const hash = hashOfSecret(secret);
  const found = await useToken(hash.toString('hex'));
  const isOfKind = found?.isSession === (kind === 'session');
  if (!found?.good || !isOfKind || !isSameHash(found.tokenHash, hash)) return null;
  return {
    userId: found.userId,
    tokenId: kind === 'token' ? found.id : null,
    scope: found.scope,
    credential: { kind: 'stored', hash },
  };
}
