import { sql, type Kysely } from 'kysely';

/**
 * Postgres 18 and later have uuidv7(). Postgres 15 to 17 get this one (RFC 9562, 5.7): 48 bits of Unix
 * milliseconds, the version, and the random bits of a version 4 UUID. Later ids sort later, so that inserts
 * append to the right edge of an index.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION uuid_v7() RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
      SELECT encode(
        set_bit(set_bit(
          overlay(uuid_send(gen_random_uuid())
            PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
            FROM 1 FOR 6),
          52, 1), 53, 1),
        'hex')::uuid
    $$`.execute(db);
}
