import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';
import { Provider } from 'oidc-provider';

export const AUDIENCE = 'https://paste.example.org';

interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
  readonly privateJwk: JWK;
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
 * stopped and started again.
 */
export class OidcIssuer {
  readonly #server: Server;
  readonly #clients: readonly string[];
  #port = 0;
  #keys: readonly SigningKey[] = [];
  #provider: Provider | undefined;
  /** The requested paths. */
  readonly requests: string[] = [];

  private constructor(clients: readonly string[]) {
    this.#clients = clients;
    this.#server = createServer((req, res) => {
      this.requests.push(req.url ?? '');
      this.#provider?.callback()(req, res);
    });
  }

  static async start(clients: readonly string[], alg = 'RS256'): Promise<OidcIssuer> {
    const issuer = new OidcIssuer(clients);
    await issuer.up();
    await issuer.signWith([await newKey('first', alg)]);
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get key(): SigningKey {
    return this.#keys[0]!;
  }

  /** The first key signs; all are published. */
  async signWith(keys: readonly SigningKey[]): Promise<void> {
    this.#keys = keys;
    this.#provider = new Provider(this.url, {
      jwks: { keys: keys.map(({ privateJwk }) => privateJwk) },
      clients: this.#clients.map((name) => ({
        client_id: name,
        client_secret: 'secret',
        id_token_signed_response_alg: keys[0]!.alg,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      })),
      features: {
        clientCredentials: { enabled: true },
        devInteractions: { enabled: false },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_ctx, resource) => ({
            scope: 'pastes',
            audience: resource,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: keys[0]!.alg } },
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

  /** A token that the provider would not issue, signed with its key. Undefined removes a claim. Default header: of an access token. */
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
