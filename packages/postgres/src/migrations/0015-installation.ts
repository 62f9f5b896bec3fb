import { sql, type Kysely } from 'kysely';

/**
 * `installation` has one row: the identity of this database, which the object `pasteflow-owner` in the bucket
 * repeats (ADR 26). A dump and a restore keep the identity. `bucket_adoptions` has a row for each time that an
 * operator gave a bucket to this database. `orphan_objects` has the objects that the last complete `reconcile`
 * found without a live row; a later run deletes them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE installation (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      created_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`INSERT INTO installation DEFAULT VALUES`.execute(db);
  await sql`
    CREATE TABLE bucket_adoptions (
      at timestamptz NOT NULL DEFAULT now(),
      bucket text NOT NULL,
      previous_owner text,
      adopted_by text NOT NULL,
      objects_found bigint NOT NULL,
      objects_known bigint NOT NULL
    )`.execute(db);
  await sql`
    CREATE TABLE orphan_objects (
      key text COLLATE "C" PRIMARY KEY,
      last_modified timestamptz NOT NULL,
      first_seen_at timestamptz NOT NULL,
      last_seen_at timestamptz NOT NULL
    )`.execute(db);
}
