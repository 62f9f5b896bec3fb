import type { OidcIssuer } from '@pasteflow/dev-stack/testing/oidc';
import type { ServerResponse } from 'node:http';
import type { ApiBed, RunningApi } from './api.ts';

export const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

/** A request of a browser with this cookie, from a page of the service unless its headers say otherwise. */
export async function browseAs(
  { url }: Pick<RunningApi, 'url'>,
  cookie: string,
  path: string,
  { headers = {}, ...init }: RequestInit = {},
): Promise<Response> {
  return await fetch(url + path, {
    redirect: 'manual',
    ...init,
    headers: {
      ...BROWSER,
      cookie: `other=1; ${cookie}; last=2`,
      'sec-fetch-site': 'same-origin',
      ...(headers as Record<string, string>),
    },
  });
}

/** The pair NAME=VALUE of the cookie that an answer sets. */
export function cookieIn(response: Response): string {
  return response.headers.get('set-cookie')?.split(';')[0] ?? '';
}

/** An api whose clients sign in at the issuer. `another` is a second client with the same redirect URI. */
export async function startOidcApi(
  bed: ApiBed,
  issuer: OidcIssuer,
  { env = {}, requestTimeoutMs }: { env?: Record<string, string>; requestTimeoutMs?: number } = {},
): Promise<RunningApi> {
  const api = await bed.start({
    ...(requestTimeoutMs !== undefined && { oidcRequestTimeoutMs: requestTimeoutMs }),
    env: {
      OIDC_ISSUER: issuer.url,
      OIDC_CLIENT_ID: 'pasteflow',
      OIDC_CLIENT_SECRET: 'of pasteflow',
      ...env,
    },
  });
  const redirectUri = `${api.url}/session/oidc/callback`;
  await issuer.register(
    { id: 'pasteflow', secret: 'of pasteflow', redirectUri },
    { id: 'another', secret: 'of another', redirectUri },
  );
  return api;
}

export function answerJson(res: ServerResponse, value: object): void {
  res.setHeader('Content-Type', 'application/json').end(JSON.stringify(value));
}

/** What a browser holds between the start of a sign-in and the callback. */
export interface BegunSignIn {
  /** The pair NAME=VALUE of the cookie. */
  readonly cookie: string;
  /** The provider's address with the request. */
  readonly url: URL;
  readonly state: string;
  readonly nonce: string;
}

/** Follows the link of the page to sign in. */
export async function beginSignIn(
  api: RunningApi,
  next = '/my/pastes',
  headers: Record<string, string> = {},
): Promise<BegunSignIn> {
  const response = await fetch(`${api.url}/session/oidc?next=${encodeURIComponent(next)}`, {
    headers: { ...BROWSER, 'sec-fetch-site': 'same-origin', ...headers },
    redirect: 'manual',
  });
  if (response.status !== 303) throw new Error(`${response.status}: ${await response.text()}`);
  const url = new URL(response.headers.get('location')!);
  const { state = '', nonce = '' } = Object.fromEntries(url.searchParams);
  return { cookie: response.headers.getSetCookie()[0]!.split(';')[0]!, url, state, nonce };
}

/** Comes back from the provider, as browsers follow a redirect of another site. */
export async function callBack(
  api: RunningApi,
  query: Readonly<Record<string, string>>,
  cookie: string | null,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return await fetch(`${api.url}/session/oidc/callback?${new URLSearchParams(query).toString()}`, {
    headers: { ...BROWSER, 'sec-fetch-site': 'cross-site', ...(cookie !== null && { cookie }), ...headers },
    redirect: 'manual',
  });
}

/** The person's part: types a name at the provider. Returns the query of the way back. */
export async function signInAtProvider(
  issuer: OidcIssuer,
  begun: BegunSignIn,
  fields: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  return await issuer.signIn(begun.url, fields);
}

/** The value of the cookie with which the browser is signed in; undefined: none is set. */
export function sessionIn(response: Response): string | undefined {
  return response.headers
    .getSetCookie()
    .map((cookie) => /^pasteflow=([^;]+);/.exec(cookie)?.[1])
    .find((value) => value !== undefined);
}
