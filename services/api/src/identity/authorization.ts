import type { IncomingMessage } from 'node:http';
import { RequestError } from '../http/errors/request-error.ts';

const REALM = 'Bearer realm="pasteflow"';

/**
 * The bearer token of a request (RFC 6750, 2.1); null when it has no Authorization at all. Whoever sends one wants to be somebody, and is
 * never taken for anonymous.
 * @throws RequestError unauthorized for another scheme, and for what is no token
 */
export function bearerTokenOf(req: IncomingMessage): string | null {
  const { authorization } = req.headers;
  if (authorization === undefined) return null;
  const [scheme = '', ...rest] = authorization.trim().split(/ +/);
  if (!/^bearer$/i.test(scheme)) {
    throw new RequestError('unauthorized', 'Authorization is taken as `Bearer TOKEN` and in no other form.', {
      headers: { 'WWW-Authenticate': REALM },
    });
  }
  const token = rest.join(' ');
  if (!/^[\w.~+/-]+=*$/.test(token)) throw invalidToken();
  return token;
}

/** The same for whatever is wrong with a token: who has found one isn't told more of it. */
export function invalidToken(): RequestError {
  return new RequestError(
    'unauthorized',
    'This token is not good: it is unknown, malformed, expired or revoked. Send another, or none.',
    { headers: { 'WWW-Authenticate': `${REALM}, error="invalid_token"` } },
  );
}

/** For who has sent no token where one is needed. */
export function credentialsWanted(
  detail = 'Send a token in the header Authorization: Bearer TOKEN.',
): RequestError {
  return new RequestError('unauthorized', detail, { headers: { 'WWW-Authenticate': REALM } });
}
