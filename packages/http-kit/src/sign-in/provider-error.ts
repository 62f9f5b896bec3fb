import { DependencyUnavailableError } from '@pasteflow/domain';
import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { readWhole } from '../url-form.ts';

/** Nobody is signed in. The message is one or two sentences for the person who signs in. */
export class SignInRefused extends Error {
  constructor(detail: string, cause?: unknown) {
    super(`${detail} Sign in again.`, { cause });
    this.name = 'SignInRefused';
  }
}

/** The codes of openid-client for an answer that is none of a working provider. */
const BROKEN_ANSWERS = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
]);

/**
 * What an error of a sign-in means to the person who signs in. The provider's own texts are not shown,
 * because anybody who makes a link to the callback can choose them.
 */
export function explainProviderError(error: unknown): SignInRefused | DependencyUnavailableError {
  if (error instanceof DependencyUnavailableError || error instanceof SignInRefused) return error;
  if (error instanceof AuthorizationResponseError) return refusedByProvider(error);
  // RFC 6749, 5.2: the code has expired, was used before, or is another client's.
  if (error instanceof ResponseBodyError && error.error === 'invalid_grant')
    return new SignInRefused(
      'The identity provider says that this sign-in has expired or was used before.',
      kindOf(error),
    );
  if (isUnavailable(error)) return signInUnavailable(error);
  return new SignInRefused(
    'The answer of the identity provider is not valid for this sign-in.',
    kindOf(error),
  );
}

function refusedByProvider(error: AuthorizationResponseError): SignInRefused | DependencyUnavailableError {
  switch (error.error) {
    case 'temporarily_unavailable':
    case 'server_error':
      return signInUnavailable(error);
    case 'access_denied':
      return new SignInRefused(
        'The sign-in was cancelled, or the identity provider did not allow it.',
        kindOf(error),
      );
    default:
      return new SignInRefused('The identity provider answered with an error.', kindOf(error));
  }
}

/** The provider is down, answers nonsense, or refuses this service: only the operator can correct it. */
function isUnavailable(error: unknown): boolean {
  if (error instanceof ClientError) return error.code === undefined || BROKEN_ANSWERS.has(error.code);
  return (
    error instanceof ResponseBodyError ||
    error instanceof WWWAuthenticateChallengeError ||
    error instanceof TypeError || // of fetch
    error instanceof RangeError // of boundedFetch
  );
}

export function signInUnavailable(cause: unknown): DependencyUnavailableError {
  return new DependencyUnavailableError('oidc', {
    cause: kindOf(cause),
    message:
      'Sign-in by the identity provider is not available now. Try again in a minute, or sign in with a token.',
  });
}

/**
 * For the log. The library's errors hold whole answers, with tokens and texts of anybody, so that only their
 * names, messages and codes are kept.
 */
export function kindOf(error: unknown): Error | undefined {
  if (!Error.isError(error)) return undefined;
  const { code = '', error: named = '' } = error as { readonly code?: unknown; readonly error?: unknown };
  const codes = [code, named].filter((each) => typeof each === 'string' && /^[\w-]{1,64}$/.test(each));
  const kind = [`${error.name}: ${error.message}`, ...codes].join(' ');
  return new Error(kind, { cause: kindOf(error.cause) });
}

/** Key sets and token answers have a few kilobytes. */
const MAX_BYTES = 1024 * 1024;

/**
 * fetch for answers of the identity provider, with the whole body in memory. A signal in `init` bounds the
 * time of the body, too.
 * @throws RangeError for a body of more than 1 MiB, and what fetch throws
 */
export async function boundedFetch(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const { status, headers } = response;
  // 204 and the like: a Response with a body of its own would be refused.
  if (response.body === null) return new Response(null, { status, headers });
  const body = await readWhole(response.body, MAX_BYTES);
  if (body === null) throw new RangeError(`${url} answered with more than ${MAX_BYTES} bytes`);
  return new Response(body, { status, headers });
}
