import { sql, type Kysely } from 'kysely';

/**
 * For migrations; frozen like them. Locks all tables or none: running services lock these tables in any order, and
 * could deadlock with a migration that holds one of them and waits for another. So a migration locks once. Each wait ends before Postgres checks for deadlocks (after 1 s), and then the locks are
 * released. An autovacuum is canceled only by a session that waits longer than that second: the first lock,
 * which conflicts with no writer, cancels the autovacuum and prevents the next one. The locks are kept until the end of the
 * migration.
 */
export async function lockAtOnce(db: Kysely<unknown>, tables: readonly string[]): Promise<void> {
  const all = sql.raw(tables.join(', '));
  await sql`
    DO $$ BEGIN
      SET LOCAL lock_timeout = '30s';
      LOCK TABLE ${all} IN SHARE UPDATE EXCLUSIVE MODE;
      SET LOCAL lock_timeout = '300ms';
      FOR tries IN 1..100 LOOP
        BEGIN
          LOCK TABLE ${all} IN ACCESS EXCLUSIVE MODE;
          EXIT;
        EXCEPTION WHEN lock_not_available THEN
          IF tries = 100 THEN RAISE; END IF;
          PERFORM pg_sleep(0.3 * random());
        END;
      END LOOP;
      SET LOCAL lock_timeout TO DEFAULT;
    END $$`.execute(db);
}
