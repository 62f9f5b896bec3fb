import { sql, type Kysely } from 'kysely';

/** What the api remembers of requests. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- A request with an Idempotency-Key. It runs while answer is NULL, under a claim that is valid until claimed_until.
    -- The key is stored as its SHA-256, and the answer encrypted with the key: it may contain a delete token.
    CREATE TABLE idempotency_keys (
      caller text NOT NULL,
      key_hash bytea NOT NULL,
      fingerprint bytea NOT NULL,
      claim_id uuid NOT NULL,
      claimed_until timestamptz NOT NULL,
      answer bytea,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (caller, key_hash)
    ) WITH (autovacuum_vacuum_scale_factor = 0.02);
    CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);

    -- The counters of rate-limiter-flexible, in its format (expire in Unix milliseconds; points may count bytes).
    -- Unlogged: a counter is not worth WAL, and a limit that starts anew after a crash does no harm.
    CREATE UNLOGGED TABLE rate_limits (
      key varchar(255) PRIMARY KEY,
      points bigint NOT NULL DEFAULT 0,
      expire bigint
    ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000);
    CREATE INDEX rate_limits_expire ON rate_limits (expire);
  `.execute(db);
}
