import { createApiToken, isGoodApiToken, revokeApiToken, type Database } from '@pasteflow/postgres';
import { isApiToken, newApiToken } from '../identity/api-token.ts';
import { hashOfSecret } from '../identity/secret.ts';
import type { TokenCommand } from './command-line.ts';
import { readKept, writeKept } from './kept-token.ts';

type Make = Extract<TokenCommand, { kind: 'make' }>;

export interface MadeToken {
  readonly token: string;
  /** Null: it is the kept one. */
  readonly made: { readonly id: string; readonly expiresAt: Date | null } | null;
}

/** A new token, or with `keepIn` the one in that file while it is a good one of this user. */
export async function makeToken(db: Database, { keepIn, ...wanted }: Make): Promise<MadeToken> {
  const kept = keepIn === null ? null : readKept(keepIn);
  if (keepIn !== null && kept !== null && (await isGood(db, kept, wanted.userName))) {
    writeKept(keepIn, kept); // for its mode: whatever copied the folder may have opened it to others
    return { token: kept, made: null };
  }
  const token = newApiToken();
  const made = await createApiToken(db, {
    userName: wanted.userName,
    name: wanted.tokenName,
    tokenHash: hashOfSecret(token),
    expiresInSeconds: wanted.expiresInSeconds,
  });
  try {
    if (keepIn !== null) writeKept(keepIn, token);
  } catch (error) {
    await revokeApiToken(db, made.id); // nobody will ever have it
    throw error;
  }
  return { token, made };
}

async function isGood(db: Database, token: string, userName: string): Promise<boolean> {
  return isApiToken(token) && (await isGoodApiToken(db, { tokenHash: hashOfSecret(token), userName }));
}
