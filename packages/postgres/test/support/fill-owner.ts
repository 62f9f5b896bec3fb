import { sql } from 'kysely';
import { ensureUser, type Database } from '../../src/index.ts';

/**
 * Gives `userName` so many pastes, among half as many of a thousand others: the newest fifth PROCESSED,
 * behind it a third in each upload state, all mixed. The others have api tokens, one for each paste of the
 * owner's. Triggers are off while it fills: only the size of the tables matters here.
 */
export async function fillOwner(db: Database, userName: string, pastes: number): Promise<string> {
  const owner = await ensureUser(db, userName);
  await db.connection().execute(async (connection) => {
    const statements = [
      sql`SET session_replication_role = replica`,
      sql`SET pasteflow.import = 'on'`,
      sql`INSERT INTO users (name) SELECT 'user ' || n FROM generate_series(1, 1000) n`,
      sql`
        INSERT INTO api_tokens (user_id, name, token_hash)
        SELECT users.id, 'made', sha256((users.id || '/' || n)::bytea)
        FROM users, generate_series(1, ${Math.ceil(pastes / 1000)}::integer) n WHERE users.id <> ${owner}`,
      sql`
        CREATE TEMP TABLE other AS SELECT row_number() OVER () AS n, id FROM users WHERE id <> ${owner}`,
      sql`
        WITH paste AS (
          INSERT INTO pastes (user_id, short_code, content_hash, size_bytes, status, s3_url, processed_at, failure_reason, failed_at,
            created_at)
          SELECT coalesce(other.id, ${owner}::uuid), 'owned' || made.n,
            'sha256:' || repeat('0', 64), 1000, state,
            CASE WHEN state = 'PROCESSED' THEN 's3://b/' || made.n END, CASE WHEN state = 'PROCESSED' THEN now() END,
            CASE WHEN state = 'FAILED' THEN 'why' END, CASE WHEN state = 'FAILED' THEN now() END,
            now() - make_interval(secs => made.n * 0.01)
          FROM (
            SELECT n, CASE WHEN n < ${pastes * 0.3}::float8 THEN 'PROCESSED'
              ELSE (ARRAY['IN_PROGRESS', 'PROCESSED', 'FAILED'])[n / 3 % 3 + 1] END AS state
            FROM generate_series(1, ${Math.ceil(pastes * 1.5)}::integer) n
          ) AS made LEFT JOIN other ON made.n % 3 = 0 AND other.n = made.n % 1000 + 1
          RETURNING id, user_id, created_at, status
        )
        INSERT INTO paste_payloads (paste_id, content, user_id, created_at)
        SELECT id, 'x', user_id, created_at FROM paste WHERE status = 'IN_PROGRESS'`,
      sql`DROP TABLE other`,
      sql`RESET pasteflow.import`,
      sql`SET session_replication_role = origin`,
    ];
    for (const statement of statements) await statement.execute(connection);
  });
  await sql`VACUUM (ANALYZE) pastes, paste_payloads, users, api_tokens`.execute(db);
  return owner;
}
