import { sql, type Kysely } from 'kysely';

/**
 * A row is a request with an Idempotency-Key. The request runs while `answer` is NULL, under a claim that is
 * valid until `claimed_until`. The key is stored as its SHA-256, and the answer encrypted with the key,
 * because it may contain a delete token.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE idempotency_keys (
      caller text NOT NULL,
      key_hash bytea NOT NULL,
      fingerprint bytea NOT NULL,
      claim_id uuid NOT NULL,
      claimed_until timestamptz NOT NULL,
      answer bytea,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (caller, key_hash)
    ) WITH (autovacuum_vacuum_scale_factor = 0.02)`.execute(db);
  await sql`CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at)`.execute(db);
}
