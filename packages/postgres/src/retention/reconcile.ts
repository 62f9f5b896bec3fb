import { JOB_OBJECT_KEY_PREFIX } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

/**
 * Which of these short codes have a live row: one whose object is, or may yet become, somebody's content. A row being deleted is live
 * until it is DELETED: its cleanup takes the object.
 */
export async function findLive(db: Database, shortCodes: readonly string[]): Promise<ReadonlySet<string>> {
  if (shortCodes.length === 0) return new Set();
  const { rows } = await sql<{ short_code: string }>`
    SELECT short_code FROM pastes
    WHERE short_code = ANY (${shortCodes}) AND status <> 'FAILED' AND deletion_status <> 'DELETED'`.execute(
    db,
  );
  return new Set(rows.map((row) => row.short_code));
}

/** What lies in a job's folder. */
export interface JobObject {
  readonly jobId: string;
  readonly key: string;
}

/**
 * Which of these objects are nobody's: their job has come to its end, or has no row, and none of its assets is stored there. What a job that
 * is still open has put there may become an asset yet; what is found here never will, for nothing leads out of a job's end and no
 * key is used twice. One statement, hence one snapshot: a job can't make its asset and end between two looks.
 */
export async function findStrayJobObjects(
  db: Database,
  objects: readonly JobObject[],
): Promise<ReadonlySet<string>> {
  if (objects.length === 0) return new Set();
  const ids = objects.map(({ jobId }) => jobId);
  const keys = objects.map(({ key }) => key);
  const { rows } = await sql<{ key: string }>`
    WITH open AS MATERIALIZED (
      SELECT id FROM jobs WHERE id = ANY (${ids}::uuid[]) AND completed_at IS NULL
    ), asset AS MATERIALIZED (
      SELECT storage_path FROM assets WHERE job_id = ANY (${ids}::uuid[]) AND storage_path = ANY (${keys}::text[])
    )
    SELECT key FROM unnest(${ids}::uuid[], ${keys}::text[]) AS object (job_id, key)
    WHERE job_id NOT IN (SELECT id FROM open) AND key NOT IN (SELECT storage_path FROM asset)`.execute(db);
  return new Set(rows.map((row) => row.key));
}

/** Which of these jobs have not come to their end: a worker may be at work for them. @param ids UUIDs */
export async function findOpenJobs(db: Database, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM jobs WHERE id = ANY (${ids}::uuid[]) AND completed_at IS NULL`.execute(db);
  return new Set(rows.map((row) => row.id));
}

/** Now, by the clock that all times in the tables come from. */
export async function databaseTime(db: Database): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`SELECT now()`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('SELECT now() gave no row');
  return row.now;
}

/**
 * Short codes of pastes that should have an object, after `after` and up to `upTo` (null: to the end) in byte order, at most `limit`.
 * Only what was PROCESSED before `before` and may still be served. An expired paste may have lost its object to a cleanup that died
 * before it could say so, and been reset by the watchdog since: the next cleanup sees to it, and nobody misses the object.
 */
export async function findStored(
  db: Database,
  { after, upTo, before, limit }: { after: string; upTo: string | null; before: Date; limit: number },
): Promise<readonly string[]> {
  const { rows } = await sql<{ short_code: string }>`
    SELECT short_code FROM pastes
    WHERE short_code > ${after} AND (${upTo}::text IS NULL OR short_code <= ${upTo})
      AND status = 'PROCESSED' AND processed_at < ${before} AND deletion_status = 'NOT_EXPIRED'
      AND (expires_at IS NULL OR expires_at > now())
    ORDER BY short_code LIMIT ${limit}`.execute(db);
  return rows.map((row) => row.short_code);
}

/**
 * Keys in jobs' folders that assets say their content is stored under, after `after` and up to `upTo` (null: to the end) in byte order, at most
 * `limit`. Only what was made before `before`, and nothing of a job that ended more than `retentionSeconds` ago: the `jobs` sweep
 * may be deleting its objects, and its rows after them.
 */
export async function findStoredAssets(
  db: Database,
  options: { after: string; upTo: string | null; before: Date; retentionSeconds: number; limit: number },
): Promise<readonly string[]> {
  const { after, upTo, before, retentionSeconds, limit } = options;
  const { rows } = await sql<{ storage_path: string }>`
    SELECT a.storage_path FROM assets a JOIN jobs j ON j.id = a.job_id
    WHERE a.storage_path COLLATE "C" > ${after} AND (${upTo}::text IS NULL OR a.storage_path COLLATE "C" <= ${upTo})
      AND starts_with(a.storage_path, ${JOB_OBJECT_KEY_PREFIX}) AND a.position IS NULL AND a.created_at < ${before}
      AND (j.completed_at IS NULL OR j.completed_at > now() - make_interval(secs => ${retentionSeconds}))
    ORDER BY a.storage_path COLLATE "C" LIMIT ${limit}`.execute(db);
  return rows.map((row) => row.storage_path);
}
