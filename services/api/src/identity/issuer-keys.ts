import { DependencyUnavailableError } from '@pasteflow/domain';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';

type KeySet = ReturnType<typeof createLocalJWKSet>;

export interface IssuerKeysOptions {
  /** As its tokens and its metadata have it, to the letter. */
  readonly issuer: string;
  /** A token with an unknown key asks for the keys anew at most this often. */
  readonly cooldownMs?: number;
  /** Told when the keys at hand couldn't be renewed, and are used on. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds, only ever more. */
  readonly now?: () => number;
}

const COOLDOWN_MS = 10_000;

/** After a failure nobody asks again for this long, so that an issuer that is down isn't asked by every request. */
const PAUSE_MS = 1000;

/** After this the keys are asked for anew, while those at hand are used on … */
const RENEW_AFTER_MS = 10 * 60_000;

/** … for an issuer that doesn't answer is no reason to refuse everybody; until a withdrawn key must count no more. */
const KEEP_MS = 60 * 60_000;

const REQUEST_TIMEOUT_MS = 5000;

/**
 * The signing keys of an issuer, found by OpenID Connect Discovery when they are first needed: the api starts whatever is down. The metadata
 * is read again with the keys, so that a key set may move. jose's own createRemoteJWKSet is not used: it has no discovery, forgets its keys
 * when they are 10 minutes old and the issuer is down, and then asks on every request.
 */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  readonly #now: () => number;
  #current: { readonly keys: KeySet; readonly readAtMs: number } | undefined;
  #reading: Promise<KeySet> | undefined;
  /** Why the last reading failed; undefined when it didn't. */
  #failure: unknown;
  #notBeforeMs = 0;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /**
   * For jwtVerify. @throws errors.JOSEError for a token that none of the keys is for, DependencyUnavailableError when there are no keys
   */
  readonly keyFor: JWTVerifyGetKey = async (header, token) => {
    const keys = await this.#usable();
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // The issuer may have changed its keys, and while it is down nobody knows.
      if (!this.#isPausing()) return await (await this.#read())(header, token);
      throw this.#failure === undefined ? error : this.#unavailable();
    }
  };

  async #usable(): Promise<KeySet> {
    const ageMs = this.#now() - (this.#current?.readAtMs ?? -Infinity);
    if (this.#current === undefined || ageMs > KEEP_MS) {
      if (!this.#isPausing()) return await this.#read();
      throw this.#unavailable();
    }
    // Once for all who come while it is under way: each would else report the same failure.
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

  /** Once for all who ask at the same time. */
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
      this.#notBeforeMs = this.#now() + PAUSE_MS;
      throw this.#unavailable();
    }
  }
}

const metadataSchema = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });

async function readKeySet(issuer: string): Promise<JSONWebKeySet> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const metadata = metadataSchema.parse(await readJson(url));
  if (metadata.issuer !== issuer) {
    throw new Error(`${url} is the metadata of ${metadata.issuer}: set OIDC_ISSUER to just that`);
  }
  if (issuer.startsWith('https:') && !metadata.jwks_uri.startsWith('https:')) {
    throw new Error(`${url} has its keys at ${metadata.jwks_uri}, which is not https`);
  }
  return (await readJson(metadata.jwks_uri)) as JSONWebKeySet; // checked by createLocalJWKSet
}

async function readJson(url: string): Promise<unknown> {
  const response = await fetch(url, {
    headers: { Accept: 'application/json' },
    redirect: 'manual',
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  if (response.status === 200) return await response.json();
  await response.body?.cancel();
  throw new Error(`${url} answered ${response.status}`);
}
