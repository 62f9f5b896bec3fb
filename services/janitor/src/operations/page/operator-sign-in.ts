import type { IncomingMessage } from 'node:http';
import {
  beginOperatorSession,
  endOperatorSession,
  findOperatorSession,
  type OperatorMay,
  type OperatorSession,
} from '@pasteflow/postgres';
import { Cookies, hashOfSecret, isForeign, newSecret, ownPath } from '@pasteflow/http-kit';
import {
  IdentityProvider,
  PENDING_SECONDS,
  readPending,
  SignInRefused,
  withoutPending,
  writePending,
  type SignedIn,
} from '@pasteflow/http-kit/sign-in';
import type { JanitorContext } from '../../sweeps/context.ts';
import type { OperatorOidcConfig } from '../../operator-oidc-env.ts';
import { cleanName } from '../actions/record.ts';
import { redirectTo, Refusal, type PageResponse } from './response.ts';

/** After this time the provider is asked again: so long an operator who lost the group can go on. */
const SESSION_SECONDS = 3600;

/** Cookies don't tell ports apart: on one machine the api has cookies of its own. */
const SESSION_COOKIE = 'pasteflow-operations';
const PENDING_COOKIE = 'pasteflow-operations-sign-in';

/** Signs operators in at the identity provider. Their groups say what they may do. */
export class OperatorSignIn {
  readonly #config: OperatorOidcConfig;
  readonly #url: URL;
  readonly #hasTokens: boolean;
  readonly #janitor: Pick<JanitorContext, 'db' | 'logger'>;
  readonly #provider: IdentityProvider;
  readonly #cookies: Cookies;
  readonly #base: string;

  /**
   * @param url of the page, in a browser
   * @param hasTokens another way in, for when the provider is away
   */
  constructor(
    config: OperatorOidcConfig,
    url: URL,
    hasTokens: boolean,
    janitor: Pick<JanitorContext, 'db' | 'logger'>,
  ) {
    this.#config = config;
    this.#url = url;
    this.#hasTokens = hasTokens;
    this.#janitor = janitor;
    this.#base = url.pathname.replace(/\/$/, '');
    this.#cookies = new Cookies({ isHttps: url.protocol === 'https:' });
    this.#provider = new IdentityProvider({
      issuer: config.issuer,
      client: config.client,
      redirectUri: () => `${url.origin}${this.#base}/session/oidc/callback`,
    });
  }

  /** null: the browser is not signed in, or no longer. */
  async sessionOf(req: IncomingMessage): Promise<OperatorSession | null> {
    const hash = this.#sessionHashOf(req);
    return hash === null ? null : await findOperatorSession(this.#janitor.db, hash);
  }

  /** 401 with the ways to sign in, which lead back to the page that was asked for. */
  refusal(req: IncomingMessage, detail: string, headers: Readonly<Record<string, string>> = {}): Refusal {
    const url = this.#url;
    const asked = req.method === 'GET' ? URL.parse(req.url ?? '', url.origin) : null;
    const isPage = asked !== null && !asked.pathname.includes('/session/');
    const next = isPage ? this.#withBase(asked.pathname) + asked.search : '';
    const href = `${url.origin}${this.#base}/session/oidc${next === '' ? '' : `?next=${encodeURIComponent(next)}`}`;
    const links = [{ href, label: `Sign in with ${new URL(this.#config.issuer).host}` }];
    if (this.#hasTokens) links.push({ href: `${this.#base}/?token`, label: 'Sign in with a token' });
    return new Refusal(401, { title: 'Sign in', detail, links }, headers);
  }

  /** GET /session/oidc: sends the browser to the provider. @throws Refusal, DependencyUnavailableError */
  async begin(req: IncomingMessage, next: string | null): Promise<PageResponse> {
    if (isForeign(req, (origin) => origin === this.#url.origin))
      throw this.refusal(req, 'Another site sent you here. Sign in if you want to.');
    const path = ownPath(next, this.#base, `${this.#base}/`);
    const { url, pending } = await this.#provider.begin(path);
    const kept = this.#cookies.valueOf(req, PENDING_COOKIE);
    return redirectTo(url, { 'Set-Cookie': this.#pendingCookie(writePending(pending, null, kept)) });
  }

  /**
   * GET /session/oidc/callback: where the provider sends the browser back. Who is in no group gets a session,
   * too, which may do nothing, so that the page can say who is signed in.
   * @throws Refusal, DependencyUnavailableError
   */
  async finish(req: IncomingMessage, query: URLSearchParams): Promise<PageResponse> {
    const { db, logger } = this.#janitor;
    const kept = this.#cookies.valueOf(req, PENDING_COOKIE);
    const pending = readPending(kept, query.get('state'));
    if (pending === null)
      throw this.refusal(
        req,
        'This browser did not begin this sign-in, or began it more than 10 minutes ago. Sign in again.',
      );
    const used = this.#pendingCookie(withoutPending(kept, pending.state));
    try {
      const signedIn = await this.#provider.finish(`?${query.toString()}`, pending);
      const session = { actor: actorOf(signedIn), may: mayOf(signedIn.claims, this.#config) };
      const replaced = this.#sessionHashOf(req);
      if (replaced !== null) await endOperatorSession(db, replaced);
      const secret = newSecret();
      await beginOperatorSession(db, {
        ...session,
        secretHash: this.#hashOf(secret),
        lastsSeconds: SESSION_SECONDS,
      });
      logger.info('operator signed in', session);
      // Lax, so that a link in an alert shows the page: reading changes nothing, and a write names its origin.
      const begun = this.#cookies.set(SESSION_COOKIE, secret, `SameSite=Lax; Max-Age=${SESSION_SECONDS}`);
      const next = ownPath(pending.next, this.#base, `${this.#base}/`);
      return redirectTo(next, { 'Set-Cookie': [used, begun], 'Referrer-Policy': 'no-referrer' });
    } catch (error) {
      if (!(error instanceof SignInRefused)) throw error;
      logger.info('sign-in of an operator refused', { error });
      throw this.refusal(req, error.message, { 'Set-Cookie': used });
    }
  }

  /** POST /session/end: signs the browser out, here and not at the provider. */
  async end(req: IncomingMessage): Promise<PageResponse> {
    const hash = this.#sessionHashOf(req);
    if (hash !== null) await endOperatorSession(this.#janitor.db, hash);
    const cookie = this.#cookies.set(SESSION_COOKIE, '', 'SameSite=Lax; Max-Age=0');
    return redirectTo(`${this.#base}/`, { 'Set-Cookie': cookie });
  }

  /** With the sign-ins at the provider. @param value empty: there are none */
  #pendingCookie(value: string): string {
    const seconds = value === '' ? 0 : PENDING_SECONDS;
    return this.#cookies.set(PENDING_COOKIE, value, `SameSite=Lax; Max-Age=${seconds}`);
  }

  /** A proxy may have taken the prefix away. */
  #withBase(path: string): string {
    return path.startsWith(`${this.#base}/`) ? path : this.#base + path;
  }

  #sessionHashOf(req: IncomingMessage): Buffer | null {
    const secret = this.#cookies.valueOf(req, SESSION_COOKIE);
    return secret !== null && /^[\w-]{43}$/.test(secret) ? this.#hashOf(secret) : null;
  }

  /** With the settings, so that a session ends when they change. */
  #hashOf(secret: string): Buffer {
    const { issuer, client, claim, read, act } = this.#config;
    return hashOfSecret(JSON.stringify([secret, issuer, client.id, claim, read, act]));
  }
}

/**
 * As what the operator's actions are recorded: `ops-oidc/NAME#SUBJECT`. A name that somebody typed beside a
 * token is recorded as `ops-page/NAME`, and can't contain a slash. The provider may let people choose their
 * name, and never their subject.
 */
function actorOf({ subject, claims }: SignedIn): string {
  const { email, email_verified: isVerified, preferred_username: username, name } = claims;
  const shown = [isVerified === true ? email : null, username, name].find((each) => typeof each === 'string');
  return `ops-oidc/${cleanName(shown ?? '')}#${encodeURIComponent(subject)}`;
}

/** A claim is a list of groups, or one. */
function mayOf(claims: SignedIn['claims'], { claim, read, act }: OperatorOidcConfig): OperatorMay {
  const groups = [claims[claim]].flat();
  if (act !== null && groups.includes(act)) return 'act';
  return read !== null && groups.includes(read) ? 'read' : 'nothing';
}
