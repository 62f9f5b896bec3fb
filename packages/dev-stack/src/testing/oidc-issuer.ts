// oxlint-disable-next-line typescript/triple-slash-reference -- the tests of other packages read this source without its project
/// <reference path="./oidc-provider.d.ts" />
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Provider } from 'oidc-provider';

/** Of the access tokens for the api. */
export const AUDIENCE = 'https://paste.example.org';

interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
  readonly privateJwk: JWK;
}

/** A client for which people sign in with a browser. */
interface BrowserClient {
  readonly id: string;
  /** Undefined: a public client, which has only PKCE. */
  readonly secret?: string;
  readonly redirectUri: string;
}

async function newKey(kid: string, alg: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const about = { kid, alg, use: 'sig' };
  return {
    kid,
    alg,
    privateKey,
    publicJwk: { ...(await exportJWK(publicKey)), ...about },
    privateJwk: { ...(await exportJWK(privateKey)), ...about },
  };
}

/**
 * A real OpenID provider on 127.0.0.1, with a client for each name. Its keys can be changed, and it can be
 * stopped and started again. People sign in with any name.
 */
export class OidcIssuer {
  readonly #server: Server;
  readonly #clients: readonly string[];
  readonly #host: string;
  #port = 0;
  #keys: readonly SigningKey[] = [];
  #browserClients: readonly BrowserClient[] = [];
  #provider: Provider | undefined;
  /** The requested paths. */
  readonly requests: string[] = [];
  /** By the name that a person types: further claims. */
  readonly claimsOf = new Map<string, Readonly<Record<string, unknown>>>();
  /** From the next `signWith` on, the ID token has no claims, as of many providers; they are asked for by a token. */
  namesOnRequest = false;
  /** By path: what answers instead of the provider. */
  readonly instead = new Map<string, (req: IncomingMessage, res: ServerResponse) => void>();

  private constructor(clients: readonly string[], host: string) {
    this.#clients = clients;
    this.#host = host;
    this.#server = createServer((req, res) => {
      this.requests.push(req.url ?? '');
      const [path = ''] = (req.url ?? '').split('?', 1);
      const instead = this.instead.get(path);
      if (instead !== undefined) instead(req, res);
      else if (this.#provider === undefined) res.destroy();
      else if (path.startsWith('/interaction/')) answerSignInForm(this.#provider, req, res);
      else this.#provider.callback()(req, res);
    });
  }

  /** @param host a name of 127.0.0.1; `localhost` makes the issuer another site than the service */
  static async start(clients: readonly string[], alg = 'RS256', host = '127.0.0.1'): Promise<OidcIssuer> {
    const issuer = new OidcIssuer(clients, host);
    await issuer.up();
    await issuer.signWith([await newKey('first', alg)]);
    return issuer;
  }

  get url(): string {
    return `http://${this.#host}:${this.#port}`;
  }

  /** The clients for which people sign in from now on. */
  async register(...clients: readonly BrowserClient[]): Promise<void> {
    this.#browserClients = clients;
    await this.signWith(this.#keys);
  }

  get key(): SigningKey {
    const [key] = this.#keys;
    if (key === undefined) throw new Error('the issuer has no key yet');
    return key;
  }

  /** The first key signs; all are published. */
  async signWith(keys: readonly SigningKey[]): Promise<void> {
    this.#keys = keys;
    const { alg } = this.key;
    this.#provider = new Provider(this.url, {
      jwks: { keys: keys.map(({ privateJwk }) => privateJwk) },
      clients: [
        ...this.#clients.map((name) => ({
          client_id: name,
          client_secret: 'secret',
          id_token_signed_response_alg: alg,
          grant_types: ['client_credentials'],
          redirect_uris: [],
          response_types: [],
        })),
        ...this.#browserClients.map(({ id, secret, redirectUri }) => ({
          client_id: id,
          ...(secret === undefined ? { token_endpoint_auth_method: 'none' } : { client_secret: secret }),
          id_token_signed_response_alg: alg,
          redirect_uris: [redirectUri],
        })),
      ],
      cookies: { keys: ['of a test'] },
      interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
      findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ ...this.claimsOf.get(sub), sub }) }),
      claims: {
        openid: ['sub', 'groups', 'email', 'email_verified', 'preferred_username'],
        profile: ['name'],
      },
      conformIdTokenClaims: this.namesOnRequest,
      loadExistingGrant: async ({ oidc }) => {
        const { accountId } = oidc.session;
        const grant = new oidc.provider.Grant({ accountId, clientId: oidc.client.clientId });
        grant.addOIDCScope('openid profile');
        await grant.save();
        return grant;
      },
      features: {
        clientCredentials: { enabled: true },
        devInteractions: { enabled: false },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_ctx, resource) => ({
            scope: 'pastes',
            audience: resource,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg } },
          }),
        },
      },
    });
  }

  /** Adds a key that signs from now on, beside the old ones or instead of them. */
  async rotate(kid: string, { keepOld }: { keepOld: boolean }): Promise<void> {
    const key = await newKey(kid, this.key.alg);
    await this.signWith(keepOld ? [key, ...this.#keys] : [key]);
  }

  /** The person's part: types a name at the provider. Returns the query of the way back to the service. */
  async signIn(url: URL, fields: Readonly<Record<string, string>>): Promise<Record<string, string>> {
    const cookies = new Map<string, string>();
    let at = url;
    for (let steps = 0; at.href.startsWith(this.url); steps += 1) {
      if (steps > 10) throw new Error(`the provider redirects without end, at last to ${at.href}`);
      const response = await fetch(at, {
        redirect: 'manual',
        headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
        ...(at.pathname.startsWith('/interaction/') && { method: 'POST', body: new URLSearchParams(fields) }),
      });
      for (const cookie of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
        cookies.set(name, value);
      }
      const location = response.headers.get('location');
      if (location === null) throw new Error(`${at.href}: ${response.status} ${await response.text()}`);
      at = new URL(location, at);
    }
    return Object.fromEntries(at.searchParams);
  }

  /** An access token from the token endpoint; without an audience, an opaque one. */
  async token(client: string, audience: string | null = AUDIENCE): Promise<string> {
    const response = await fetch(`${this.url}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${client}:secret`).toString('base64')}` },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        ...(audience !== null && { resource: audience }),
      }),
    });
    const body = (await response.json()) as { access_token?: string };
    if (body.access_token === undefined) throw new Error(JSON.stringify(body));
    return body.access_token;
  }

  /**
   * A token that the provider would not issue, signed with its key. Undefined removes a claim. Default
   * header: of an access token.
   */
  async signed(
    claims: Readonly<Record<string, unknown>>,
    header: Readonly<Record<string, unknown>> = { typ: 'at+jwt' },
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const all: JWTPayload = {
      iss: this.url,
      aud: AUDIENCE,
      sub: 'crafted',
      iat: now,
      exp: now + 60,
      ...claims,
    };
    return await new SignJWT(all)
      .setProtectedHeader({ alg: this.key.alg, kid: this.key.kid, ...header })
      .sign(this.key.privateKey);
  }

  async up(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async down(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

const FORM = `<!doctype html><html lang="en"><title>Provider</title><form method="post">
<label>Name <input name="name" autofocus></label> <button>Continue</button> <button name="denied" value="yes">Cancel</button></form>`;

/** The page of the provider on which people type who they are. It asks for no password. */
function answerSignInForm(provider: Provider, req: IncomingMessage, res: ServerResponse): void {
  if (req.method !== 'POST') {
    res.setHeader('Content-Type', 'text/html').end(FORM);
    return;
  }
  void finish(provider, req, res).catch((error: unknown) => res.writeHead(500).end(String(error)));
}

async function finish(provider: Provider, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const fields = new URLSearchParams(await text(req));
  await provider.interactionFinished(
    req,
    res,
    fields.has('denied')
      ? { error: 'access_denied', error_description: '<b>No</b>' }
      : { login: { accountId: fields.get('name') ?? '' } },
  );
}
