import { createHash, randomBytes } from 'node:crypto';
import type { Rows } from './rows.ts';

export interface Credentials {
  readonly userId: string;
  readonly token: string;
}

/** Inserts a new token of the user with this name, who is created if missing. */
export async function makeToken(rows: Rows, name: string): Promise<Credentials> {
  const token = `pf_${randomBytes(32).toString('base64url')}`;
  const [user] = await rows.query<{ id: string }>(
    `INSERT INTO users (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id`,
    [name],
  );
  const userId = user?.id ?? '';
  const hash = createHash('sha256').update(token).digest();
  await rows.query(`INSERT INTO api_tokens (user_id, name, token_hash) VALUES ($1, 'e2e', $2)`, [
    userId,
    hash,
  ]);
  return { userId, token };
}
