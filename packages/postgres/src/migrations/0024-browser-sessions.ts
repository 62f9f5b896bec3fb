import { sql, type Kysely } from 'kysely';

/**
 * A token with `is_session` was made for one browser, when the identity provider signed its user in. It ends when the browser signs out,
 * which must not end a token that the user's programs have as well. See
 * docs/adr/0046-the-identity-provider-signs-browsers-in.md.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Each request with a token reads the table: a lock that waits for long would hold up all of them.
  await sql`
    DO $$ BEGIN
      SET LOCAL lock_timeout = '300ms';
      FOR tries IN 1..100 LOOP
        BEGIN
          LOCK TABLE api_tokens IN ACCESS EXCLUSIVE MODE;
          EXIT;
        EXCEPTION WHEN lock_not_available THEN
          IF tries = 100 THEN RAISE; END IF;
          PERFORM pg_sleep(0.3 * random());
        END;
      END LOOP;
      SET LOCAL lock_timeout TO DEFAULT;
    END $$`.execute(db);
  await sql`ALTER TABLE api_tokens ADD COLUMN is_session boolean NOT NULL DEFAULT false`.execute(db);
}
