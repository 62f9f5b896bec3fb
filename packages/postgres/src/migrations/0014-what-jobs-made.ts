import { sql, type Kysely } from 'kysely';

/**
 * `made_by_job` is what the result of a job says whose work can't say it any more: how many assets it has, and of those that were made of
 * an entry the positions, as runs from first to last, the first thousand of them; NULL for a job without assets. It is VOLATILE for the
 * reason that `job_has_assets` is, whose place it takes (workers of the version before call that one still). It reads the job's own assets
 * by a bitmap, whatever the statistics say: 10,000 of them are 306 pages and some 10 ms, where a scan of the table knows no
 * bound, and one of the index looks at 6,649.
 *
 * `assets_stored` has what lies in jobs' folders, in the order in which S3 lists them, so that `reconcile` merges the two. What is made of
 * an entry lies elsewhere, with the pastes: imports don't write to this index.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION made_by_job(job uuid) RETURNS jsonb LANGUAGE sql VOLATILE
      SET enable_seqscan = off SET enable_indexscan = off AS $$
      WITH made AS MATERIALIZED (
        SELECT position FROM assets WHERE job_id = job
      ), run AS (
        SELECT min(position) AS first, max(position) AS last
        FROM (SELECT position, position - row_number() OVER (ORDER BY position) AS run FROM made WHERE position IS NOT NULL) AS numbered
        GROUP BY run ORDER BY first LIMIT 1000
      )
      SELECT jsonb_strip_nulls(jsonb_build_object(
        'assets', count(*), 'positions', (SELECT jsonb_agg(jsonb_build_array(first, last) ORDER BY first) FROM run)))
      FROM made HAVING count(*) > 0
    $$`.execute(db);
  await sql`CREATE INDEX assets_stored ON assets (storage_path COLLATE "C") WHERE position IS NULL`.execute(
    db,
  );
}
