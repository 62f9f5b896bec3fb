import { httpUrl, text } from '@pasteflow/runtime';
import { LRUCache } from 'lru-cache';
import * as openid from 'openid-client';
import type { z } from 'zod';
import { newPendingSignIn, type PendingSignIn } from './pending-sign-in.ts';
import {
  explainProviderError,
  kindOf,
  SignInRefused,
  signInUnavailable,
  boundedFetch,
} from './provider-error.ts';

/** The allowed difference between the issuer's clock and ours. */
export const CLOCK_TOLERANCE_SECONDS = 5;

export interface OidcClient {
  readonly id: string;
  /** Null: a public client, which only PKCE protects. */
  readonly secret: string | null;
  /** Separated by spaces. */
  readonly scopes: string;
}

export interface IdentityProviderOptions {
  /** Exactly as in its tokens and its metadata. */
  readonly issuer: string;
  readonly client: OidcClient;
  /** The URL of the callback, as the provider knows it. */
  readonly redirectUri: () => string;
  /** For each request to the provider. A sign-in takes at most four: metadata, token, keys, claims. Default: 5 s. */
  readonly requestTimeoutMs?: number | undefined;
  /** The claim with what the provider calls a person. Default: null, none. */
  readonly nameClaim?: string | null;
}

/** Whom the provider has signed in. */
export interface SignedIn {
  readonly subject: string;
  /** Of the ID token. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** The value of `nameClaim`; undefined: there is none; an Error: the provider was asked for it in vain. */
  readonly name: unknown;
}

const REQUEST_TIMEOUT_MS = 5000;

/** The metadata is read again after this time, while the old one stays in use. */
const METADATA_MS = 10 * 60_000;

/** In this process: a provider that hangs holds 20 requests and connections for some seconds. */
const MAX_CONCURRENT = 20;

/**
 * Signs people in by the authorization code flow with PKCE (OpenID Connect Core, 3.1). The metadata is read
 * at the first use, so that the service starts while the provider is down.
 */
export class IdentityProvider {
  readonly #options: IdentityProviderOptions;
  readonly #metadata: LRUCache<'metadata', openid.Configuration>;
  /** Why the metadata was not read the last time: the cache keeps no reason. */
  #failure: unknown = new Error('the metadata was not read');
  #running = 0;

  constructor(options: IdentityProviderOptions) {
    this.#options = options;
    // One read for all concurrent sign-ins. A provider that is down keeps its last metadata.
    this.#metadata = new LRUCache({
      max: 1,
      ttl: METADATA_MS,
      allowStale: true,
      allowStaleOnFetchRejection: true,
      noDeleteOnFetchRejection: true,
      fetchMethod: async () => {
        try {
          return await this.#discover();
        } catch (error) {
          this.#failure = error;
          throw error;
        }
      },
    });
  }

  get issuer(): string {
    return this.#options.issuer;
  }

  /**
   * Where to send the browser, and what it has to keep meanwhile.
   * @throws DependencyUnavailableError
   */
  async begin(next: string): Promise<{ readonly url: string; readonly pending: PendingSignIn }> {
    return await this.#bounded(async () => {
      const pending = newPendingSignIn(next);
      const url = openid.buildAuthorizationUrl(await this.#configuration(), {
        redirect_uri: this.#options.redirectUri(),
        scope: this.#options.client.scopes,
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(pending.codeVerifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, pending };
    });
  }

  /**
   * Whom the provider has signed in. The library checks state, `iss`, and of the ID token `iss`, `aud`, `exp`,
   * nonce and signature; `azp` only where there are several audiences. The access token only asks for
   * a name, whose subject is compared, so its `at_hash` says nothing that is used.
   * @param query of the callback, with its question mark
   * @throws SignInRefused, DependencyUnavailableError
   */
  async finish(query: string, { state, nonce, codeVerifier }: PendingSignIn): Promise<SignedIn> {
    return await this.#bounded(async () => {
      const configuration = await this.#configuration();
      const tokens = await openid.authorizationCodeGrant(
        configuration,
        new URL(this.#options.redirectUri() + query),
        { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier, idTokenExpected: true },
      );
      const claims = tokens.claims() ?? { sub: null };
      assertIssuedToUs(claims, this.#options.client.id);
      if (!isSubject(claims.sub)) throw new SignInRefused('The identity provider names no user.');
      const { sub: subject } = claims;
      return {
        subject,
        claims,
        name: await this.#nameOf(configuration, tokens.access_token, { ...claims, sub: subject }),
      };
    });
  }

  /** Many providers tell names only when asked with the access token (OpenID Connect Core, 5.3 and 5.4). */
  async #nameOf(
    configuration: openid.Configuration,
    accessToken: string,
    claims: Readonly<Record<string, unknown>> & { readonly sub: string },
  ): Promise<unknown> {
    const { nameClaim = null } = this.#options;
    if (nameClaim === null) return undefined;
    const { userinfo_endpoint: endpoint } = configuration.serverMetadata();
    if (claims[nameClaim] !== undefined || endpoint === undefined) return claims[nameClaim];
    try {
      return (await openid.fetchUserInfo(configuration, accessToken, claims.sub))[nameClaim];
    } catch (error) {
      return kindOf(error) ?? new Error('the provider was not asked');
    }
  }

  async #bounded<Result>(run: () => Promise<Result>): Promise<Result> {
    if (this.#running >= MAX_CONCURRENT)
      throw signInUnavailable(new Error(`${MAX_CONCURRENT} sign-ins wait for the identity provider`));
    this.#running += 1;
    try {
      return await run();
    } catch (error) {
      throw explainProviderError(error);
    } finally {
      this.#running -= 1;
    }
  }

  async #configuration(): Promise<openid.Configuration> {
    try {
      const configuration = await this.#metadata.fetch('metadata');
      if (configuration === undefined) throw this.#failure;
      return configuration;
    } catch (error) {
      throw signInUnavailable(error);
    }
  }

  async #discover(): Promise<openid.Configuration> {
    const { issuer, client, requestTimeoutMs = REQUEST_TIMEOUT_MS } = this.#options;
    const configuration = await openid.discovery(
      new URL(issuer),
      client.id,
      { [openid.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
      authenticationOf(client.secret),
      {
        timeout: requestTimeoutMs / 1000,
        [openid.customFetch]: (url, { body, ...init }) => boundedFetch(url, { ...init, body: body ?? null }),
        // Without it the library trusts the connection to the provider instead of checking the signature of
        // the ID token.
        execute: [
          openid.enableNonRepudiationChecks,
          // oxlint-disable-next-line typescript/no-deprecated -- marked so that it stands out; for a local provider
          ...(issuer.startsWith('http:') ? [openid.allowInsecureRequests] : []),
        ],
      },
    );
    // The library compares URLs, for which a slash at the end is the same. Users are named by the text.
    const { issuer: named } = configuration.serverMetadata();
    if (named !== issuer)
      throw new Error(
        `The metadata of ${issuer} is that of ${named}. Name exactly that issuer in the settings.`,
      );
    return configuration;
  }
}

/** OpenID Connect Core, 3.1.3.7. @throws SignInRefused */
function assertIssuedToUs({ azp, iat }: Readonly<Record<string, unknown>>, clientId: string): void {
  if (azp !== undefined && azp !== clientId)
    throw new SignInRefused('The identity provider has signed somebody in for another service.');
  if (isFromFuture(iat))
    throw new SignInRefused('The identity provider has dated this sign-in in the future. Check its clock.');
}

/** @param iat the claim, in seconds; a token without it has no date */
export function isFromFuture(iat: unknown): boolean {
  return typeof iat === 'number' && iat > Date.now() / 1000 + CLOCK_TOLERANCE_SECONDS;
}

/** client_secret_basic is what a provider supports that does not say what (OpenID Connect Discovery, 3). */
function authenticationOf(secret: string | null): openid.ClientAuth {
  if (secret === null) return openid.None();
  const basic = openid.ClientSecretBasic(secret);
  const post = openid.ClientSecretPost(secret);
  return (provider, ...request) => {
    const supported = provider.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    (supported.includes('client_secret_basic') ? basic : post)(provider, ...request);
  };
}

/** OpenID Connect Core, 2: at most 255 characters. Postgres can't store NUL, for example. */
const SUBJECT = /^\P{Cc}{1,255}$/u;

/** Whether the claim `sub` of a token can name a user. */
export function isSubject(sub: unknown): sub is string {
  return typeof sub === 'string' && sub.isWellFormed() && SUBJECT.test(sub);
}

/**
 * The URL of an identity provider. OpenID Connect Discovery, 2: no query and no fragment. Users are named
 * ISSUER#SUBJECT, which a second # would make ambiguous.
 */
export function issuerUrl(): z.ZodType<string, string> {
  return httpUrl('https://login.example.org').refine(
    (issuer) => !/[?#@]/.test(issuer),
    'has a query, a fragment or credentials; remove them',
  );
}

/** RFC 6749, 3.3. */
export function scopes(): z.ZodType<string, string> {
  return text('names of scopes')
    .refine(
      (names) => /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(names),
      'is no list of scopes; set it to names separated by single spaces, e.g. openid profile',
    )
    .refine(
      (names) => names.split(' ').includes('openid'),
      'has no openid, without which the provider names nobody; add it',
    );
}
