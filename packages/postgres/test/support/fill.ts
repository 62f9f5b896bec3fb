import { sql } from 'kysely';
import type { Database } from '../../src/index.ts';

/**
 * Adds uploads that wait, with their payloads, as an outage of SQS leaves them: quicker than autovacuum
 * looks, so that the statistics know nothing of them.
 */
export async function fillWithBacklog(db: Database, pastes: number): Promise<void> {
  await keepStatistics(db);
  await addBacklog(db, pastes);
}

/** Statistics, and the plans made from them, stay as they are. */
export async function keepStatistics(db: Database): Promise<void> {
  for (const table of ['pastes', 'paste_payloads', 'task_executions'])
    await sql`ALTER TABLE ${sql.table(table)} SET (autovacuum_enabled = off)`.execute(db);
}

/** Pastes whose uploads wait. */
export async function addBacklog(db: Database, pastes: number): Promise<void> {
  await sql`
    WITH paste AS (
      INSERT INTO pastes (short_code, content_hash, size_bytes)
      SELECT 'waiting' || n, 'sha256:' || repeat('0', 64), 1 FROM generate_series(1, ${pastes}::integer) n RETURNING id
    ), payload AS (
      INSERT INTO paste_payloads SELECT id, 'x' FROM paste
    )
    INSERT INTO task_executions (kind, subject_id, attempt) SELECT 'upload', id, 1 FROM paste`.execute(db);
}

/**
 * Adds pastes as years of service leave them: PROCESSED with their executions and transitions, one in a
 * hundred DELETED, one in a thousand FAILED; none of it work that is due. Triggers are off while it fills:
 * only the size of the tables matters here.
 *
 * The ids are UUIDs of version 7, one a millisecond, the last one of now. The default of the column would
 * give all rows of a millisecond ids in random order, and a machine that fills faster would then spread
 * neighbouring ids over more pages.
 */
export async function fillWithHistory(db: Database, pastes: number): Promise<void> {
  await db.connection().execute(async (connection) => {
    const statements = [
      sql`SET session_replication_role = replica`,
      sql`SET pasteflow.import = 'on'`,
      sql`
        INSERT INTO pastes (id, short_code, content_hash, size_bytes, status, s3_url, processed_at, failure_reason, failed_at, created_at,
            expires_at, deletion_status, deletion_initiated_at, deleted_at)
          SELECT (lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint - ${pastes}::integer + n), 12, '0') || '7000' || '8'
              || substr(md5(n::text), 1, 15))::uuid,
            substr(md5(n::text), 1, 10) || n, 'sha256:' || repeat('0', 64), 1000,
            CASE WHEN failed THEN 'FAILED' ELSE 'PROCESSED' END,
            CASE WHEN NOT failed THEN 's3://b/' || n END, CASE WHEN NOT failed THEN now() END,
            CASE WHEN failed THEN 'why' END, CASE WHEN failed THEN now() END,
            now() - make_interval(secs => n * 0.01), now() + interval '10 days',
            CASE WHEN deleted THEN 'DELETED' ELSE 'NOT_EXPIRED' END,
            CASE WHEN deleted THEN now() END, CASE WHEN deleted THEN now() END
          FROM (SELECT n, n % 1000 = 7 AS failed, n % 100 = 3 AS deleted FROM generate_series(1, ${pastes}::integer) n) AS made`,
      sql`
        INSERT INTO task_executions (kind, subject_id, attempt, status, dispatched_at, worker_id, started_at, finished_at)
          SELECT 'upload', id, 1, 'SUCCEEDED', now(), 'w', now(), now() FROM pastes`,
      sql`
        INSERT INTO state_transitions (machine, entity, "from", "to", actor)
          SELECT 'paste_upload', id, 'IN_PROGRESS', status, 'w' FROM pastes`,
      sql`RESET pasteflow.import`,
      sql`SET session_replication_role = origin`,
    ];
    for (const statement of statements) await statement.execute(connection);
  });
  await sql`VACUUM (ANALYZE) pastes, task_executions, state_transitions`.execute(db);
}

/**
 * Gives a tenth of the history a slug and an owner, each of whom has twenty slugs.
 * @returns one of the owners, and one of the slugs
 */
export async function fillWithSlugs(db: Database): Promise<{ userId: string; slug: string }> {
  const { rows } = await sql<{ userId: string; slug: string }>`
    WITH chosen AS (
      SELECT id, row_number() OVER () AS n FROM pastes WHERE right(short_code, 1) = '5'
    ), owner AS (
      INSERT INTO users (name) SELECT 'owner ' || n FROM generate_series(0, (SELECT max(n) FROM chosen) / 20) n RETURNING id, name
    )
    UPDATE pastes p SET slug = 'slug-' || n, user_id = owner.id
    FROM chosen JOIN owner ON owner.name = 'owner ' || n / 20 WHERE p.id = chosen.id AND n BETWEEN 20 AND 1000000000
    RETURNING p.user_id AS "userId", p.slug`.execute(db);
  await sql`VACUUM (ANALYZE) pastes, users`.execute(db);
  return rows[0]!;
}

/**
 * Idempotency keys of a day with their answers, and counters of an hour's callers, none of them due for
 * removal.
 */
export async function fillWithKeys(db: Database, rows: number): Promise<void> {
  await sql`
    INSERT INTO idempotency_keys (caller, key_hash, fingerprint, claim_id, claimed_until, answer, created_at)
    SELECT 'address:' || n % 100, sha256(n::text::bytea), sha256(''), gen_random_uuid(), now(), sha256(''),
      now() - make_interval(secs => n * 0.01) FROM generate_series(1, ${rows}::integer) n`.execute(db);
  await sql`
    INSERT INTO rate_limits
    SELECT 'requests:address:' || n, 1, extract(epoch FROM now())::bigint * 1000 + n
    FROM generate_series(1, ${rows}::integer) n`.execute(db);
  await sql`VACUUM (ANALYZE) idempotency_keys, rate_limits`.execute(db);
}
