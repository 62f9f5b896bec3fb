import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

/**
 * Returns the id of the user with this name and creates the user when there is none. Of concurrent calls for
 * the same new name exactly one creates the user, and the others get its id. `DO UPDATE`, because after `DO
 * NOTHING` the others would see neither a row of their own nor the new one.
 */
export async function ensureUser(db: Database, name: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`WITH ${ensuredUser(name)} SELECT id FROM ensured_user`.execute(
    db,
  );
  return (rows as [{ id: string }])[0].id;
}

/** The user with exactly this name; null: there is none. */
export async function findUserId(db: Database, name: string): Promise<string | null> {
  const row = await db.selectFrom('users').select('id').where('name', '=', name).executeTakeFirst();
  return row?.id ?? null;
}

export interface UserNames {
  /** Unique: of a user of the identity provider, ISSUER#SUBJECT. */
  readonly userName: string;
  /** What the identity provider calls the user, for people; null: nothing. */
  readonly shownName: string | null;
}

/** The names of a user; null when there is no such user. */
export async function findUserNames(db: Database, id: string): Promise<UserNames | null> {
  const names = ['name as userName', 'shown_name as shownName'] as const;
  return (await db.selectFrom('users').select(names).where('id', '=', id).executeTakeFirst()) ?? null;
}

/** The names of these users by their ids, without those who are erased. */
export async function findNamesOf(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, UserNames>> {
  const { rows } = await sql<UserNames & { id: string }>`
    SELECT id, name AS "userName", shown_name AS "shownName" FROM users
    WHERE id = ANY (${ids}::uuid[]) AND erased_at IS NULL`.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Keeps what the identity provider calls a user, unless the user is erased. @param shownName null: nothing */
export async function keepShownName(db: Database, id: string, shownName: string | null): Promise<void> {
  await sql`
    UPDATE users SET shown_name = ${shownName}
    WHERE id = ${id} AND erased_at IS NULL AND shown_name IS DISTINCT FROM ${shownName}`.execute(db);
}

/** Whether the user is erased, so that nothing is created for it. */
export async function isErased(db: Database, userId: string): Promise<boolean> {
  const { rows } = await sql`SELECT FROM users WHERE id = ${userId} AND erased_at IS NOT NULL`.execute(db);
  return rows.length > 0;
}

/** The CTE `ensured_user (id)`, for larger statements. An existing user is only locked against its erasure. */
export function ensuredUser(name: string) {
  return sql`
    known_user AS MATERIALIZED (SELECT id FROM users WHERE name = ${name} AND erased_at IS NULL FOR KEY SHARE),
    made_user AS (
      INSERT INTO users AS u (name) SELECT ${name}::text WHERE NOT EXISTS (SELECT FROM known_user)
      ON CONFLICT (name) DO UPDATE SET name = u.name WHERE u.erased_at IS NULL RETURNING id
    ),
    ensured_user AS (SELECT id FROM known_user UNION ALL SELECT id FROM made_user)`;
}
