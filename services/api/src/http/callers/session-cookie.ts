import type { IncomingMessage } from 'node:http';
import { Cookies, isForeign, isOwn } from '@pasteflow/http-kit';
import { RequestError } from '../answers/request-error.ts';
import { contextOf } from '../request/request-context.ts';

/** Its name, without the prefix of https. */
const SESSION_COOKIE = 'pasteflow';

/**
 * The cookie with which a browser is signed in (ADR 40): the secret of its session, which counts only in
 * requests that the service's own pages or the user's address bar sent.
 */
export class SessionCookie {
  readonly #publicUrl: string | undefined;
  readonly #cookies: Cookies;

  /** @param publicUrl PUBLIC_URL; undefined: not set */
  constructor(publicUrl: string | undefined) {
    this.#publicUrl = publicUrl;
    this.#cookies = new Cookies({ isHttps: publicUrl?.startsWith('https:') ?? false });
  }

  /** The secret of a browser that is signed in; null when there is none, or when it does not count. */
  secretOf(req: IncomingMessage): string | null {
    const secret = contextOf(req).ignoresSession === true ? null : this.heldBy(req);
    return secret !== null && this.isOwn(req) ? secret : null;
  }

  /** The secret in the cookie, also where it does not count; null: none. */
  heldBy(req: IncomingMessage): string | null {
    return this.valueOf(req, SESSION_COOKIE) || null;
  }

  /** The header Set-Cookie that signs a browser in, until it is closed, or for so many seconds. */
  begin(secret: string, lastsSeconds?: number): string {
    const lasts = lastsSeconds === undefined ? '' : `; Max-Age=${lastsSeconds}`;
    return this.cookie(SESSION_COOKIE, secret, `SameSite=Strict${lasts}`);
  }

  /** The header Set-Cookie that signs a browser out. */
  end(): string {
    return this.cookie(SESSION_COOKIE, '', 'SameSite=Strict; Max-Age=0');
  }

  /** A header Set-Cookie. */
  cookie(name: string, value: string, attributes: string): string {
    return this.#cookies.set(name, value, attributes);
  }

  /** A cookie that `cookie` has set; null: none. */
  valueOf(req: IncomingMessage, name: string): string | null {
    return this.#cookies.valueOf(req, name);
  }

  /** Whether the service's own pages or the user's address bar sent the request, as the browser says. */
  isOwn(req: IncomingMessage): boolean {
    return isOwn(req, (origin) => this.#isOwnOrigin(origin, req));
  }

  #isOwnOrigin(origin: string, { headers: { host } }: IncomingMessage): boolean {
    if (!URL.canParse(origin)) return false;
    const sender = new URL(origin);
    return this.#publicUrl === undefined
      ? sender.host === host
      : sender.origin === new URL(this.#publicUrl).origin;
  }

  /**
   * For a POST that programs send as well: refuses what a browser says that another site has sent.
   * @throws RequestError cross_site_request
   */
  refuseForeign(req: IncomingMessage): void {
    if (/^bearer /i.test(req.headers.authorization ?? '')) return; // no page of another site can make a browser send a token
    if (isForeign(req, (origin) => this.#isOwnOrigin(origin, req))) throw this.#foreign();
  }

  /**
   * For a form that is protected before anybody is signed in.
   * @throws RequestError cross_site_request
   */
  requireOwn(req: IncomingMessage): void {
    if (!this.isOwn(req)) throw this.#foreign();
  }

  #foreign(): RequestError {
    const address = this.#publicUrl ?? 'the address of the service';
    return new RequestError(
      'cross_site_request',
      `The form was not sent from a page of this service, or the browser does not say from where. Open ${address} and try again, with https and a current browser.`,
    );
  }
}
