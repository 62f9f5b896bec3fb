/** What a token that its user has made may do. `write` includes `read`. Neither makes tokens. */
export const ownTokenScopes = ['read', 'write'] as const;

export type OwnTokenScope = (typeof ownTokenScopes)[number];

/** `full` is for tokens that an operator has made, and for who signs in at the identity provider. */
export type TokenScope = OwnTokenScope | 'full';

/** More than the machines and scripts of a person. */
export const MAX_OWN_TOKENS = 50;

export const MAX_TOKEN_NAME_CHARACTERS = 100;

/**
 * Whether a text can be the name of a token or a user. Names are shown, and typed, side by side: what can't be
 * seen, or changes the direction of writing, would make one look like another. An emoji may have its variation.
 */
export function isVisibleName(text: string): boolean {
  return text.isWellFormed() && !INVISIBLE.test(text.replaceAll('\ufe0f', ''));
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
