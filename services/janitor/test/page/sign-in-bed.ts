import { OidcIssuer } from '@pasteflow/dev-stack/testing/oidc';
import { createWorld } from '../world.ts';
import { openPage, type Call, type OpenPage } from './open-page.ts';

/** Requests name it as their host: the redirect URI is known before the port is. */
export const ORIGIN = 'http://ops.example.org';

export type Answer = Awaited<ReturnType<OpenPage['call']>>;

export const cookiesIn = (answer: Answer): string[] => [answer.headers['set-cookie'] ?? []].flat();

const cookieIn = (answer: Answer, name: string): string | undefined =>
  cookiesIn(answer)
    .find((each) => each.startsWith(`${name}=`) && !each.includes('Max-Age=0'))
    ?.split(';')[0];

/** The pair NAME=VALUE of the cookie with which the browser is signed in; undefined: none is set. */
export const sessionIn = (answer: Answer) => cookieIn(answer, 'pasteflow-operations');

/**
 * The operations page with a real identity provider, of which anna may act, ben may read, and mallory, who
 * claims anna's address, may do nothing.
 */
export async function openSignInBed() {
  const world = await createWorld();
  const issuer = await OidcIssuer.start([]);
  const env = {
    OPS_PORT: '0',
    OPS_URL: ORIGIN,
    OPS_OIDC_ISSUER: issuer.url,
    OPS_OIDC_CLIENT_ID: 'operations',
    OPS_OIDC_CLIENT_SECRET: 'of operations',
    OPS_OIDC_READ: 'support',
    OPS_OIDC_ACT: 'operators',
  };
  await issuer.register({
    id: 'operations',
    secret: 'of operations',
    redirectUri: `${ORIGIN}/session/oidc/callback`,
  });
  const email = 'anna@example.org';
  issuer.claimsOf.set('anna', { groups: ['staff', 'operators'], email, email_verified: true });
  issuer.claimsOf.set('ben', { groups: 'support', preferred_username: 'ben' });
  issuer.claimsOf.set('mallory', { groups: ['operators2', 'staff'], email, email_verified: false });
  const page = await openPage(world, env);

  /** As a browser that has no password of the page. */
  const browse = (path: string, cookie: string | null = null, call: Call = {}) =>
    page.call(path, {
      token: null,
      ...call,
      headers: {
        host: new URL(ORIGIN).host,
        origin: ORIGIN,
        'sec-fetch-site': 'same-origin',
        ...(cookie !== null && { cookie }),
        ...call.headers,
      },
    });

  /** Follows the link of the page to sign in. */
  const begin = async (next = '/') => {
    const answer = await browse(`/session/oidc?next=${encodeURIComponent(next)}`);
    const url = new URL(String(answer.headers.location));
    const { state = '', nonce = '' } = Object.fromEntries(url.searchParams);
    return { cookie: cookieIn(answer, 'pasteflow-operations-sign-in')!, url, state, nonce, answer };
  };

  /** Comes back from the provider, as browsers follow a redirect of another site. */
  const callBack = (query: Readonly<Record<string, string>>, cookie: string | null) =>
    browse(`/session/oidc/callback?${new URLSearchParams(query).toString()}`, cookie, {
      headers: { 'sec-fetch-site': 'cross-site' },
    });

  const signIn = async (name: string, next?: string): Promise<Answer> => {
    const begun = await begin(next);
    return await callBack(await issuer.signIn(begun.url, { name }), begun.cookie);
  };

  return {
    world,
    issuer,
    env,
    page,
    browse,
    begin,
    callBack,
    signIn,
    sessionOf: async (name: string): Promise<string> => sessionIn(await signIn(name))!,
    stop: async () => {
      await page.stop();
      await issuer.down();
      await world.stop();
    },
  };
}

export type SignInBed = Awaited<ReturnType<typeof openSignInBed>>;
