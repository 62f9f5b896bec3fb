import { DependencyUnavailableError } from '@pasteflow/domain';
import { boundedFetch } from '@pasteflow/http-kit/sign-in';
import { createLocalJWKSet, errors, type CryptoKey, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';

type KeySet = ReturnType<typeof createLocalJWKSet>;

export interface IssuerKeysOptions {
  /** Exactly as in its tokens and its metadata. */
  readonly issuer: string;
  /** A token with an unknown key makes the keys be fetched again at most this often. */
  readonly cooldownMs?: number | undefined;
  /** Called when renewing the keys failed and the current keys stay in use. */
  readonly onError: (error: unknown) => void;
  /** Called for each token whose key is published and cannot be used. */
  readonly onUnusableKey: (kid: string | undefined, error: unknown) => void;
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

const COOLDOWN_MS = 10_000;

/** After a failure, so that not every request asks an issuer that is down. */
const FAILURE_PAUSE_MS = 1000;

/** Keys older than this are renewed in the background, while they stay in use. */
const RENEW_AFTER_MS = 10 * 60_000;

/** Keys older than this are not used. Until then an issuer that does not answer locks nobody out. */
const KEEP_MS = 60 * 60_000;

const REQUEST_TIMEOUT_MS = 5000;

/**
 * The signing keys of an issuer, found by OpenID Connect Discovery at their first use, so that the api starts
 * while the issuer is down. The metadata is read again with the keys, because the URL of the key set can
 * change. jose's createRemoteJWKSet is not used: it has no discovery, its pause counts from the last success, so
 * that each request asks an issuer that is down, and it uses no keys that are older than its cache.
 */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  readonly #now: () => number;
  #current: { readonly keys: KeySet; readonly readAtMs: number } | undefined;
  #reading: Promise<KeySet> | undefined;
  /** Why the last fetch failed; undefined when it succeeded. */
  #failure: unknown;
  #notBeforeMs = 0;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /**
   * The key for jwtVerify.
   * @throws errors.JOSEError when no key matches the token, DependencyUnavailableError when there are no keys
   */
  readonly keyFor: JWTVerifyGetKey = async (header, token) => {
    const keys = await this.#usable();
    try {
      return await this.#find(keys, header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // The issuer may have changed its keys; while it is down, whether it did is unknown.
      if (!this.#isPausing()) return await this.#find(await this.#read(), header, token);
      throw this.#failure === undefined ? error : this.#unavailable();
    }
  };

  /**
   * @throws errors.JWKSInvalid for a key that cannot be used. jose throws other errors for some of them, a
   *   TypeError for a short RSA key and a DOMException for a broken one, which would be taken for a defect of
   *   the api.
   */
  async #find(keys: KeySet, ...[header, token]: Parameters<JWTVerifyGetKey>): Promise<CryptoKey> {
    try {
      const key = await keys(header, token);
      assertLongEnough(key);
      return key;
    } catch (error) {
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSInvalid)) throw error;
      this.#options.onUnusableKey(header.kid, error);
      throw new errors.JWKSInvalid('The key of the token cannot be used.', { cause: error });
    }
  }

  async #usable(): Promise<KeySet> {
    const ageMs = this.#now() - (this.#current?.readAtMs ?? -Infinity);
    if (this.#current === undefined || ageMs > KEEP_MS) {
      if (!this.#isPausing()) return await this.#read();
      throw this.#unavailable();
    }
    // One renewal for all concurrent requests; otherwise each would report the same failure.
    const isDue = ageMs > RENEW_AFTER_MS && this.#reading === undefined && !this.#isPausing();
    if (isDue) this.#read().catch(this.#options.onError);
    return this.#current.keys;
  }

  #unavailable(): DependencyUnavailableError {
    return new DependencyUnavailableError('oidc', { cause: this.#failure });
  }

  #isPausing(): boolean {
    return this.#reading === undefined && this.#now() < this.#notBeforeMs;
  }

  /** One fetch for all concurrent requests. */
  #read(): Promise<KeySet> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readOnce(): Promise<KeySet> {
    try {
      const keys = createLocalJWKSet(await readKeySet(this.#options.issuer));
      const readAtMs = this.#now();
      this.#current = { keys, readAtMs };
      this.#failure = undefined;
      this.#notBeforeMs = readAtMs + (this.#options.cooldownMs ?? COOLDOWN_MS);
      return keys;
    } catch (error) {
      this.#failure = error;
      this.#notBeforeMs = this.#now() + FAILURE_PAUSE_MS;
      throw this.#unavailable();
    }
  }
}

/** RFC 7518, 3.3: RSA keys have at least 2048 bits. */
function assertLongEnough({ algorithm }: CryptoKey): void {
  const { modulusLength = Infinity } = algorithm as { readonly modulusLength?: number };
  if (modulusLength < 2048) throw new RangeError(`The key has ${modulusLength} bits; RSA keys need 2048.`);
}

const metadataSchema = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });

async function readKeySet(issuer: string): Promise<JSONWebKeySet> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const metadata = metadataSchema.parse(await readJson(url));
  if (metadata.issuer !== issuer) {
    throw new Error(`${url} is the metadata of ${metadata.issuer}. Set OIDC_ISSUER to exactly that issuer.`);
  }
  if (issuer.startsWith('https:') && !metadata.jwks_uri.startsWith('https:')) {
    throw new Error(
      `${url} names the keys at ${metadata.jwks_uri}, which is not https. Correct the metadata of the identity provider.`,
    );
  }
  return (await readJson(metadata.jwks_uri)) as JSONWebKeySet; // checked by createLocalJWKSet
}

async function readJson(url: string): Promise<unknown> {
  const response = await boundedFetch(url, {
    headers: { Accept: 'application/json' },
    redirect: 'manual',
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  if (response.status === 200) return await response.json();
  throw new Error(`${url} answered ${response.status}`);
}
