import { sql, type Kysely } from 'kysely';
import { lockAtOnce } from './lock-at-once.ts';

/**
 * `made_by_job` returns the result of a job whose own run cannot write it any more: the number of its assets
 * and, for assets made from an entry, the positions as runs from first to last, the first thousand of them;
 * NULL for a job without assets. VOLATILE for the same reason as `job_has_assets`, which it replaces (workers
 * of the version before still call that one). It reads the assets of the job by a bitmap scan, whatever the
 * statistics are: 10,000 assets are 306 pages and some 10 ms, while a scan of the table has no bound, and an
 * index scan reads 6,649 pages.
 *
 * `assets_stored` has the objects in the folders of jobs, in the order in which S3 lists them, so that
 * `reconcile` can merge both. Assets made from an entry are stored with the pastes: imports do not write to
 * this index.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await lockAtOnce(db, ['assets']);
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
