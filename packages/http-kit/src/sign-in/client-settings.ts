import { httpUrl, text } from '@pasteflow/runtime';
import type { z } from 'zod';

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
