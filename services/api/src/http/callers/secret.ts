import { hkdfSync, timingSafeEqual } from 'node:crypto';
import { hashOfSecret, newSecret } from '@pasteflow/http-kit';

export { hashOfSecret, newSecret };

/** Compares two SHA-256 hashes in constant time. */
export function isSameHash(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** The prefix distinguishes an API token from others, also for scanners of leaked secrets. */
export function newApiToken(): string {
  return `pf_${newSecret()}`;
}

/**
 * The API token of a form: the same one for the same form, so that it is shown again when the form is sent
 * again, although the secret is stored nowhere.
 * @param key of the form, which nobody can guess
 * @param meaning what the form says, and whose it is
 */
export function apiTokenOf(key: string, meaning: object): string {
  return `pf_${derived(key, JSON.stringify(meaning), 'pasteflow token of a form')}`;
}

/** The secret of the session that the form of an invitation begins, for the same reason. @param invitation its secret */
export function sessionSecretOf(key: string, invitation: string): string {
  return derived(key, invitation, 'pasteflow session of an invitation');
}

function derived(key: string, salt: string, purpose: string): string {
  return Buffer.from(hkdfSync('sha256', key, salt, purpose, 32)).toString('base64url');
}

/** Whether a text has the form of an API token. Other texts never reach the database. */
export function isApiToken(text: string): boolean {
  return /^pf_[\w-]{43}$/.test(text);
}

/**
 * An API token has another form, so that it counts in no cookie, and the secret of a session in no header.
 */
export function isSessionSecret(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}
