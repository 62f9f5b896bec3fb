import { fromBase64 } from './base64.ts';
import type { CipherParameters } from './document.ts';
import type { SecretKey } from './secret-key.ts';

/**
 * The key of the cipher: PBKDF2 with HMAC-SHA-256 over the secret key, followed by the bytes of the password. The types of WebCrypto have other
 * names in Node than in browsers: they are left to be inferred.
 */
export async function deriveKey(
  secret: SecretKey,
  password: Uint8Array,
  [, salt, iterations, keyBits]: CipherParameters,
) {
  const material = new Uint8Array(secret.length + password.length);
  material.set(secret);
  material.set(password, secret.length);
  const imported = await crypto.subtle.importKey('raw', material, 'PBKDF2', false, ['deriveKey']);
  return await crypto.subtle.deriveKey(
    { name: 'PBKDF2', hash: 'SHA-256', salt: fromBase64(salt), iterations },
    imported,
    { name: 'AES-GCM', length: keyBits },
    false,
    ['encrypt', 'decrypt'],
  );
}

/** What encryption and decryption share: the IV, the authenticated data and the length of the tag. */
export function gcmOf([iv, , , , tagLength]: CipherParameters, authenticated: string) {
  return {
    name: 'AES-GCM',
    iv: fromBase64(iv),
    additionalData: new TextEncoder().encode(authenticated),
    tagLength,
  };
}
