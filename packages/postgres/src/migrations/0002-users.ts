import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE users (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      name text NOT NULL UNIQUE CHECK (name <> ''),
      created_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
}
