import type { IncomingMessage } from 'node:http';
import { SignInRefused } from '@pasteflow/http-kit/sign-in';
import { RequestError } from '../answers/request-error.ts';

const REALM = 'Bearer realm="pasteflow"';
const INVALID_TOKEN = `${REALM}, error="invalid_token"`;

function unauthorized(detail: string, wwwAuthenticate = REALM, cause?: unknown): RequestError {
  const headers = { 'WWW-Authenticate': wwwAuthenticate };
  return new RequestError('unauthorized', detail, { cause, headers });
}

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
    throw unauthorized('Send the Authorization header as `Bearer TOKEN`; other schemes are not accepted.');
  }
  const token = rest.join(' ');
  if (!/^[\w.~+/-]+=*$/.test(token)) throw invalidToken();
  return token;
}

/** The same error for every invalid token, so that a token's finder learns nothing more about it. */
export function invalidToken(): RequestError {
  return unauthorized(
    'This token is invalid: it is unknown, malformed, expired or revoked. Send another token, or none.',
    INVALID_TOKEN,
  );
}

/** At the form of the page, where nothing is said about headers. */
export function refusedAtSignIn(): RequestError {
  return unauthorized(
    'This token is not valid: it is unknown, malformed, expired or revoked. Check that you copied all of it.',
    INVALID_TOKEN,
  );
}

/** @throws RequestError unauthorized for what the sign-in at the identity provider refused */
export function throwAsAnswer(error: unknown): never {
  throw error instanceof SignInRefused ? unauthorized(error.message, REALM, error.cause) : error;
}

/** For a browser whose session was good once. */
export function sessionEnded(): RequestError {
  return unauthorized(
    'You are no longer signed in: your session has ended, or your token has expired or was revoked. Sign in again.',
    INVALID_TOKEN,
  );
}

/** @param detail what the token may not do, and what to do */
export function insufficientScope(
  detail = 'You are identified by a token that may only read. Use one that may also write.',
): RequestError {
  return new RequestError('insufficient_scope', detail);
}

/** For a request without the token that it needs. */
export function credentialsRequired(
  detail = 'Send a token in the header `Authorization: Bearer TOKEN`.',
): RequestError {
  return unauthorized(detail);
}
