import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isLoopback } from '@pasteflow/runtime';
import { operator } from '../actions/record.ts';
import type { OperationsConfig } from '../config.ts';
import { Refusal } from './response.ts';

/** Who uses the page, and whether they may do things. */
export interface Visitor {
  /** The actor of what they do: `ops-page/NAME`. The name is what they say it is. */
  readonly actor: string;
  readonly mayAct: boolean;
}

const MAX_NAME_CHARACTERS = 40;

/**
 * Checks the token, which browsers send as the password of HTTP's Basic authentication. The user name is the
 * operator's name.
 */
export class Access {
  readonly #token: Buffer | null;
  readonly #readToken: Buffer | null;

  constructor({ token, readToken }: Pick<OperationsConfig, 'token' | 'readToken'>) {
    this.#token = token === null ? null : digest(token);
    this.#readToken = readToken === null ? null : digest(readToken);
  }

  /** @throws Refusal 401 without a right token */
  visitorOf(req: IncomingMessage): Visitor {
    if (this.#token === null && this.#readToken === null) return { actor: operator(), mayAct: true };
    const sent = credentialsOf(req);
    if (sent === null) throw unauthorized('Enter your name, and the token as the password.');
    const given = digest(sent.token);
    // Both are compared, so that the time doesn't tell which one is set
    const mayAct = isSame(given, this.#token);
    const mayRead = isSame(given, this.#readToken);
    if (mayAct || mayRead) return { actor: `ops-page/${sent.name}`, mayAct };
    throw unauthorized('The token is wrong. Enter your name, and the token as the password.');
  }
}

function unauthorized(detail: string): Refusal {
  const challenge = 'Basic realm="Pasteflow operations", charset="UTF-8"';
  return new Refusal(401, { title: 'Not authorized', detail }, { 'WWW-Authenticate': challenge });
}

function credentialsOf(req: IncomingMessage): { readonly name: string; readonly token: string } | null {
  const [, encoded] = /^basic ([\w+/=]+)$/i.exec(req.headers.authorization ?? '') ?? [];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  if (colon === -1) return null;
  const name = text.slice(0, colon).replaceAll(/[^\p{L}\p{N}@._-]/gu, '');
  return { name: name.slice(0, MAX_NAME_CHARACTERS) || 'unnamed', token: text.slice(colon + 1) };
}

function isSame(given: Buffer, expected: Buffer | null): boolean {
  return timingSafeEqual(given, expected ?? Buffer.alloc(given.length)) && expected !== null;
}

/** Tokens of any length become comparable in constant time. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/**
 * The origin of the page for this request. A page of another site whose name was changed to this address (DNS
 * rebinding) sends its own name in Host, and is refused.
 * @throws Refusal 421
 */
export function originOf(req: IncomingMessage, { url }: Pick<OperationsConfig, 'url'>): string {
  const host = req.headers.host ?? '';
  if (url !== null && host === url.host) return url.origin;
  const own = URL.parse(`http://${host}`);
  const isOwn =
    own !== null &&
    own.host === host &&
    isLoopback(own.hostname.replaceAll(/[[\]]/g, '')) &&
    Number(own.port === '' ? 80 : own.port) === req.socket.localPort;
  if (isOwn) return own.origin;
  throw new Refusal(421, {
    title: 'Wrong host',
    detail: 'The operations page is not served under this name. Use its own address, or set OPS_URL.',
  });
}

/**
 * A write must come from the page itself. Browsers send the password of the page with every request, also
 * with one that another site has caused.
 * @throws Refusal 403
 */
export function assertSameOrigin(req: IncomingMessage, origin: string): void {
  const site = req.headers['sec-fetch-site'];
  if (req.headers.origin === origin && (site === undefined || site === 'same-origin')) return;
  throw new Refusal(403, {
    title: 'Another origin',
    detail: 'The request did not come from the operations page. Open the page and act there.',
  });
}
