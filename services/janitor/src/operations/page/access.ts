import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isForeign } from '@pasteflow/http-kit';
import { isLoopback, type Logger, type Metrics } from '@pasteflow/runtime';
import { operator } from '../actions/record.ts';
import type { OperationsConfig } from '../../config.ts';
import { cleanName } from '../actions/record.ts';
import type { OperatorSignIn } from './operator-sign-in.ts';
import { Refusal } from './response.ts';

/** Who uses the page, and whether they may do things. */
export interface Visitor {
  /**
   * The actor of what they do: `ops-oidc/NAME#SUBJECT` as the identity provider says, or `ops-page/NAME` as
   * they say.
   */
  readonly actor: string;
  readonly mayAct: boolean;
  /** As whom the identity provider has signed them in; null: it has not. */
  readonly signedInAs: string | null;
}

const ENTER_TOKEN = 'Enter your name, and the token as the password.';

/**
 * Finds the session of a browser that the identity provider has signed in, or checks the token, which
 * browsers send as the password of HTTP's Basic authentication. The user name is then the operator's name.
 */
export class Access {
  readonly #token: Buffer | null;
  readonly #readToken: Buffer | null;
  readonly #signIn: OperatorSignIn | null;
  readonly #logger: Logger;
  readonly #refused;
  /** Since the last log line. */
  #unlogged = 0;
  #loggedAtMs = -Infinity;

  /** @param signIn null: there is no identity provider */
  constructor(
    { token, readToken }: Pick<OperationsConfig, 'token' | 'readToken'>,
    signIn: OperatorSignIn | null,
    logger: Logger,
    metrics: Metrics,
  ) {
    this.#logger = logger;
    this.#refused = metrics.counter({
      name: 'janitor_operator_tokens_refused_total',
      help: 'Requests to the operations page with a wrong token.',
    });
    this.#token = token === null ? null : digest(token);
    this.#readToken = readToken === null ? null : digest(readToken);
    this.#signIn = signIn;
  }

  /**
   * @param asksForToken the page to sign in was left for a token, for which browsers ask on a challenge
   * @throws Refusal 401 for a visitor who is not signed in, 403 for one who is in no group
   */
  async visitorOf(req: IncomingMessage, asksForToken: boolean): Promise<Visitor> {
    const hasTokens = this.#token !== null || this.#readToken !== null;
    if (this.#signIn === null && !hasTokens) return { actor: operator(), mayAct: true, signedInAs: null };
    const sent = credentialsOf(req);
    if (sent !== null && hasTokens) return this.#holderOf(req, sent);
    if (this.#signIn === null) throw unauthorized(ENTER_TOKEN);
    const session = await this.#signIn.sessionOf(req);
    if (session === null && hasTokens && asksForToken) throw unauthorized(ENTER_TOKEN);
    if (session === null)
      throw this.#signIn.refusal(req, 'You are not signed in, or your session of an hour has ended.');
    const { actor } = session;
    const visitor = { actor, mayAct: session.may === 'act', signedInAs: actor.replace(/^ops-oidc\//, '') };
    if (session.may !== 'nothing') return visitor;
    throw new NoGroup(visitor);
  }

  #holderOf(req: IncomingMessage, sent: Credentials): Visitor {
    const given = digest(sent.token);
    // Both are compared, so that the time doesn't tell which one is set
    const mayAct = isSame(given, this.#token);
    const mayRead = isSame(given, this.#readToken);
    if (mayAct || mayRead) return { actor: `ops-page/${sent.name}`, mayAct, signedInAs: null };
    this.#reportRefused(req, sent);
    throw unauthorized('The token is wrong. Enter your name, and the token as the password.');
  }

  #reportRefused(req: IncomingMessage, { name }: Credentials): void {
    this.#refused.inc();
    this.#unlogged += 1;
    if (performance.now() - this.#loggedAtMs < LOG_EVERY_MS) return;
    this.#loggedAtMs = performance.now();
    const address = req.socket.remoteAddress ?? null;
    this.#logger.warn('token of an operator refused', { address, operator: name, refused: this.#unlogged });
    this.#unlogged = 0;
  }
}

/** Somebody who guesses must not fill the log. */
const LOG_EVERY_MS = 10_000;

/** The identity provider knows the visitor, and none of the visitor's groups may read. */
export class NoGroup extends Refusal {
  readonly visitor: Visitor;

  constructor(visitor: Visitor) {
    super(403, {
      title: 'No access',
      detail: `You are signed in as ${visitor.signedInAs}, who is in no group that may use this page. Ask for the group, then sign out and in again.`,
    });
    this.name = 'NoGroup';
    this.visitor = visitor;
  }
}

function unauthorized(detail: string): Refusal {
  const challenge = 'Basic realm="Pasteflow operations", charset="UTF-8"';
  return new Refusal(401, { title: 'Not authorized', detail }, { 'WWW-Authenticate': challenge });
}

interface Credentials {
  readonly name: string;
  readonly token: string;
}

function credentialsOf(req: IncomingMessage): Credentials | null {
  const [, encoded] = /^basic ([\w+/=]+)$/i.exec(req.headers.authorization ?? '') ?? [];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  if (colon === -1) return null;
  return { name: cleanName(text.slice(0, colon)), token: text.slice(colon + 1) };
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
  if (req.headers.origin !== undefined && !isForeign(req, (sent) => sent === origin)) return;
  throw new Refusal(403, {
    title: 'Another origin',
    detail: 'The request did not come from the operations page. Open the page and act there.',
  });
}
