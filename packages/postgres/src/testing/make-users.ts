import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

export interface MadeUser {
  readonly id: string;
  readonly name: string;
}

/** Creates `count` users with random names. */
export async function makeUsers(db: Database, count: number): Promise<readonly MadeUser[]> {
  const names = Array.from({ length: count }, () => `user-${randomUUID()}`);
  const { rows } = await sql<MadeUser>`
    INSERT INTO users (name) SELECT unnest(${names}::text[]) RETURNING id, name`.execute(db);
  return rows;
}
