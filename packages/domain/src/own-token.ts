/** What a token that its user has made may do. `write` includes `read`. Neither makes tokens. */
export const ownTokenScopes = ['read', 'write'] as const;

export type OwnTokenScope = (typeof ownTokenScopes)[number];

/** `full` is for tokens that an operator has made, and for who signs in at the identity provider. */
export type TokenScope = OwnTokenScope | 'full';

/** More than the machines and scripts of a person. */
export const MAX_OWN_TOKENS = 50;

export const MAX_TOKEN_NAME_CHARACTERS = 100;
