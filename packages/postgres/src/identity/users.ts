import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

/**
 * The id of the user of this name, who is made when there is none. Of many who want the same new one at once exactly one makes it, and the
 * others get theirs: `DO UPDATE`, since under `DO NOTHING` they would see neither their own row nor the winner's.
 */
export async function ensureUser(db: Database, name: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`WITH ${ensuredUser(name)} SELECT id FROM ensured_user`.execute(
    db,
  );
  return (rows as [{ id: string }])[0].id;
}

/** The CTE `ensured_user (id)`, for statements that do more with it. A user who is there already is only read. */
export function ensuredUser(name: string) {
  return sql`
    known_user AS MATERIALIZED (SELECT id FROM users WHERE name = ${name}),
    made_user AS (
      INSERT INTO users AS u (name) SELECT ${name}::text WHERE NOT EXISTS (SELECT FROM known_user)
      ON CONFLICT (name) DO UPDATE SET name = u.name RETURNING id
    ),
    ensured_user AS (SELECT id FROM known_user UNION ALL SELECT id FROM made_user)`;
}
