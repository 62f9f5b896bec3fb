import { sql, type Kysely } from 'kysely';

/** Pastes of several files. The CHECK reads the table once, during which requests wait. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- Whether files follow each other without gaps and are all of the content.
    CREATE FUNCTION are_files_of(files jsonb, size_bytes bigint) RETURNS boolean
      LANGUAGE sql IMMUTABLE SET search_path = pg_catalog AS $$
      SELECT jsonb_typeof(files) = 'array' AND jsonb_array_length(files) BETWEEN 2 AND 100 AND octet_length(files::text) <= 16384
        AND bool_and(coalesce(placed.name <> '' AND placed.size >= 0 AND placed.place = placed.before, false))
        AND sum(placed.size) = size_bytes
      FROM (
        SELECT file ->> 'name' AS name, (file -> 'size')::bigint AS size, (file -> 'offset')::bigint AS place,
          coalesce(sum((file -> 'size')::bigint) OVER (ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
        FROM jsonb_array_elements(files) WITH ORDINALITY AS listed (file, n)
      ) AS placed
    $$;

    -- files: name, offset, size and syntax of each file of the content, in order; NULL: the content has no files.
    ALTER TABLE pastes ADD COLUMN files jsonb,
      ADD CONSTRAINT pastes_files CHECK (files IS NULL OR NOT encrypted AND are_files_of(files, size_bytes));
  `.execute(db);
}
