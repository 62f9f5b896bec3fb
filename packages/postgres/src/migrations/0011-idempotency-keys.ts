import { sql, type Kysely } from 'kysely';

/**
 * A row is a request that came with an Idempotency-Key: running while `answer` is NULL, under a claim that holds until `claimed_until`.
 * Neither the key nor the answer stands here as it is: the key as its SHA-256, the answer sealed with the key (it may hold a delete token).
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
