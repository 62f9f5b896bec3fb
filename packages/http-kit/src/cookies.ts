import { hash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The cookies of one service, which no script can read. Cookies of https are never sent or set by http. */
export class Cookies {
  readonly #isHttps: boolean;

  constructor({ isHttps }: { readonly isHttps: boolean }) {
    this.#isHttps = isHttps;
  }

  /** A header Set-Cookie. */
  set(name: string, value: string, attributes: string): string {
    return `${this.#name(name)}=${value}; Path=/; HttpOnly; ${attributes}${this.#isHttps ? '; Secure' : ''}`;
  }

  /** A cookie that `set` has set; null: the request has none of this name. The first of several counts. */
  valueOf(req: IncomingMessage, name: string): string | null {
    const { cookie } = req.headers;
    if (cookie === undefined) return null;
    const full = this.#name(name);
    for (const pair of cookie.split(';')) {
      const [key = '', ...value] = pair.split('=');
      if (key.trim() === full) return value.join('=').trim();
    }
    return null;
  }

  /** With the prefix browsers accept a cookie only from this host, by https. */
  #name(name: string): string {
    return this.#isHttps ? `__Host-${name}` : name;
  }
}

/** 256 bits of the CSPRNG, which can't be guessed: a single SHA-256 in the database is enough. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** SHA-256. */
export function hashOfSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
