import { createApiToken, isGoodApiToken, revokeApiToken, type Database } from '@pasteflow/postgres';
import { isApiToken, newApiToken } from '../identity/api-token.ts';
import { hashOfSecret } from '../identity/secret.ts';
import type { MakeToken } from './command-line.ts';
import { readKeptToken, writeKeptToken } from './kept-token.ts';

export interface MadeToken {
  readonly token: string;
  /** Null: the token is the kept one. */
  readonly made: { readonly id: string; readonly expiresAt: Date | null } | null;
}

/** Makes a token. With `keepIn`, returns the token in that file instead while it is a good one of this user. */
export async function makeToken(db: Database, { keepIn, ...requested }: MakeToken): Promise<MadeToken> {
  const kept = keepIn === null ? null : readKeptToken(keepIn);
  if (keepIn !== null && kept !== null && (await isGood(db, kept, requested.userName))) {
    writeKeptToken(keepIn, kept); // restores the file mode, which a copy of the folder may have widened
    return { token: kept, made: null };
  }
  const token = newApiToken();
  const made = await createApiToken(db, {
    userName: requested.userName,
    name: requested.tokenName,
    tokenHash: hashOfSecret(token),
    expiresInSeconds: requested.expiresInSeconds,
  });
  try {
    if (keepIn !== null) writeKeptToken(keepIn, token);
  } catch (error) {
    await revokeApiToken(db, made.id); // a token that was not printed can never be used
    throw error;
  }
  return { token, made };
}

async function isGood(db: Database, token: string, userName: string): Promise<boolean> {
  return isApiToken(token) && (await isGoodApiToken(db, { tokenHash: hashOfSecret(token), userName }));
}
