import type { IncomingMessage } from 'node:http';
import { RequestError } from '../http/errors/request-error.ts';

const REALM = 'Bearer realm="pasteflow"';

/**
 * The bearer token of a request (RFC 6750, 2.1); null without an Authorization header. A request with the
 * header is never treated as anonymous.
 * @throws RequestError unauthorized for another scheme and for a malformed token
 */
export function bearerTokenOf(req: IncomingMessage): string | null {
  const { authorization } = req.headers;
  if (authorization === undefined) return null;
  const [scheme = '', ...rest] = authorization.split(' ').filter((part) => part !== '');
  if (!/^bearer$/i.test(scheme)) {
    throw new RequestError(
      'unauthorized',
      'Send the Authorization header as `Bearer TOKEN`; other schemes are not accepted.',
      {
        headers: { 'WWW-Authenticate': REALM },
      },
    );
  }
  const token = rest.join(' ');
  if (!/^[\w.~+/-]+=*$/.test(token)) throw invalidToken();
  return token;
}

/** The same error for every invalid token, so that a token's finder learns nothing more about it. */
export function invalidToken(): RequestError {
  return new RequestError(
    'unauthorized',
    'This token is invalid: it is unknown, malformed, expired or revoked. Send another token, or none.',
    { headers: { 'WWW-Authenticate': `${REALM}, error="invalid_token"` } },
  );
}

/** At the form of the page, where nothing is said about headers. */
export function refusedAtSignIn(): RequestError {
  return new RequestError(
    'unauthorized',
    'This token is not valid: it is unknown, malformed, expired or revoked. Check that you copied all of it.',
    { headers: { 'WWW-Authenticate': `${REALM}, error="invalid_token"` } },
  );
}

/** At the identity provider, or with what it answered. @param detail one or two sentences of ours */
export function signInRefused(detail: string, cause?: unknown): RequestError {
  return new RequestError('unauthorized', `${detail} Sign in again.`, {
    cause,
    headers: { 'WWW-Authenticate': REALM },
  });
}

/** For a browser whose session was good once. */
export function sessionEnded(): RequestError {
  return new RequestError(
    'unauthorized',
    'You are no longer signed in: your session has ended, or your token has expired or was revoked. Sign in again.',
    { headers: { 'WWW-Authenticate': `${REALM}, error="invalid_token"` } },
  );
}

/** For a request without the token that it needs. */
export function credentialsRequired(
  detail = 'Send a token in the header `Authorization: Bearer TOKEN`.',
): RequestError {
  return new RequestError('unauthorized', detail, { headers: { 'WWW-Authenticate': REALM } });
}
