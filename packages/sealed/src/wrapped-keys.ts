import { Aes256Gcm, CipherSuite, DhkemP256HkdfSha256, HkdfSha256 } from '@hpke/core';
import { base64urlnopad } from '@scure/base';
import type { SecretKey } from './keys.ts';

/** RFC 9180: DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM, in mode base. */
const suite = new CipherSuite({
  kem: new DhkemP256HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes256Gcm(),
});

const PUBLIC_BYTES = 65;
const PRIVATE_BYTES = 32;
/** The encapsulated key, and the sealed one with its tag. */
const WRAPPED_BYTES = PUBLIC_BYTES + 32 + 16;

/** Each as the part of a link after `#`, in base64url. */
interface RequestKeys {
  /** For who gives a secret: 87 characters. */
  readonly publicPart: string;
  /**
   * For who asks: 130 characters, the private key and the public one behind it. Not every browser finds the public
   * key by the private one: Firefox exports no private key that it has imported.
   */
  readonly privatePart: string;
}

/** A new pair of keys for a request. @throws Error where the browser has no WebCrypto, as on pages of http */
export async function newRequestKeys(): Promise<RequestKeys> {
  const { publicKey, privateKey } = await suite.kem.generateKeyPair();
  const publicBytes = new Uint8Array(await suite.kem.serializePublicKey(publicKey));
  const privateBytes = new Uint8Array(await suite.kem.serializePrivateKey(privateKey));
  return {
    publicPart: base64urlnopad.encode(publicBytes),
    privatePart: base64urlnopad.encode(new Uint8Array([...privateBytes, ...publicBytes])),
  };
}

/**
 * The public part that belongs to a private one, so that who asks needs to keep one link only.
 * @param privatePart as in the link, with or without the `#`
 * @throws BrokenLinkError when `privatePart` is no key
 */
export function publicPartOf(privatePart: string): string {
  return base64urlnopad.encode(bytesOf(privatePart, PRIVATE_BYTES + PUBLIC_BYTES).slice(PRIVATE_BYTES));
}

/**
 * Wraps the key of a deposit for who has the private part.
 * @param requestId of the request: the key opens for no other one
 * @param publicPart as in the link, with or without the `#`
 * @returns base64url, 151 characters
 * @throws BrokenLinkError when `publicPart` is no key
 */
export async function wrapKey(key: SecretKey, requestId: string, publicPart: string): Promise<string> {
  const recipientPublicKey = await suite.kem
    .deserializePublicKey(bytesOf(publicPart, PUBLIC_BYTES))
    .catch(refuseLink);
  const { enc, ct } = await suite.seal({ recipientPublicKey, info: infoOf(requestId) }, key);
  return base64urlnopad.encode(new Uint8Array([...new Uint8Array(enc), ...new Uint8Array(ct)]));
}

/**
 * The key of a deposit.
 * @param privatePart as in the link, with or without the `#`
 * @throws BrokenLinkError when `privatePart` is no key; WrongRequestKeyError when the key was not wrapped for it
 */
export async function unwrapKey(wrapped: string, requestId: string, privatePart: string): Promise<SecretKey> {
  const pair = bytesOf(privatePart, PRIVATE_BYTES + PUBLIC_BYTES);
  const recipientKey = {
    privateKey: await suite.kem.deserializePrivateKey(pair.slice(0, PRIVATE_BYTES)).catch(refuseLink),
    publicKey: await suite.kem.deserializePublicKey(pair.slice(PRIVATE_BYTES)).catch(refuseLink),
  };
  try {
    const bytes = bytesOf(wrapped, WRAPPED_BYTES);
    const [enc, ct] = [bytes.slice(0, PUBLIC_BYTES), bytes.slice(PUBLIC_BYTES)];
    return new Uint8Array(await suite.open({ recipientKey, enc, info: infoOf(requestId) }, ct));
  } catch (cause) {
    throw new WrongRequestKeyError({ cause });
  }
}

/** The part of a link after `#` is no key of a request: a program has cut the link, or somebody has changed it. */
export class BrokenLinkError extends Error {
  constructor(options?: ErrorOptions) {
    super('The link is not complete: what stands behind # is no key.', options);
    this.name = 'BrokenLinkError';
  }
}

/** The deposit was made with the key of another request, or somebody has changed what the server stores. */
export class WrongRequestKeyError extends Error {
  constructor(options?: ErrorOptions) {
    super(
      'This key does not open the deposit: it is that of another request, or the deposit was changed.',
      options,
    );
    this.name = 'WrongRequestKeyError';
  }
}

function infoOf(requestId: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(requestId);
}

/** @throws BrokenLinkError */
function bytesOf(text: string, length: number): Uint8Array<ArrayBuffer> {
  const part = text.replace(/^#/, '');
  try {
    if (part.length > 2 * length) throw new Error('too long');
    const bytes = base64urlnopad.decode(part);
    if (bytes.length !== length) throw new Error(`${bytes.length} bytes`);
    return new Uint8Array(bytes);
  } catch (cause) {
    return refuseLink(cause);
  }
}

function refuseLink(cause: unknown): never {
  throw new BrokenLinkError({ cause });
}
