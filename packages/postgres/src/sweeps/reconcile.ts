import { JOB_OBJECT_KEY_PREFIX, jobIdOfKey, shortCodeOfKey } from '@pasteflow/domain';
import { sql } from 'kysely';
import { affectedRows, type Database } from '../database/database.ts';
import { isThere } from '../schema/pastes.ts';

/**
 * Returns the short codes that have a live row: a paste whose object is in use or may still be. A paste that
 * is being deleted is live until it is DELETED: its cleanup deletes the object. A FAILED paste is live while
 * it can be retried: a retry stores the object of the paste that takes its place, and could do so between
 * this check and a deletion.
 */
export async function findLive(db: Database, shortCodes: readonly string[]): Promise<ReadonlySet<string>> {
  if (shortCodes.length === 0) return new Set();
  const { rows } = await sql<{ short_code: string }>`
    SELECT short_code FROM pastes
    WHERE short_code = ANY (${shortCodes}) AND deletion_status <> 'DELETED'
      AND (status <> 'FAILED' OR EXISTS (SELECT FROM failed_payloads f WHERE f.paste_id = pastes.id))`.execute(
    db,
  );
  return new Set(rows.map((row) => row.short_code));
}

/** Returns those keys that belong to a live paste, or to an asset or an open job. */
export async function findLiveObjects(db: Database, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const codeOf = new Map(keys.map((key) => [key, shortCodeOfKey(key)]));
  const codes = await findLive(
    db,
    [...codeOf.values()].filter((code) => code !== null),
  );
  const ofJobs = jobObjectsOf(keys);
  const strays = await findStrayJobObjects(db, ofJobs);
  return new Set([
    ...keys.filter((key) => codes.has(codeOf.get(key) ?? '')),
    ...ofJobs.map(({ key }) => key).filter((key) => !strays.has(key)),
  ]);
}

/**
 * Returns those keys whose object is needed now: of a PROCESSED paste that is there, or of an asset. The ids
 * of the jobs and `position IS NULL` only bound the search: an asset with a position is the object of a
 * paste.
 */
export async function findServedObjects(db: Database, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const codeOf = new Map(keys.map((key) => [key, shortCodeOfKey(key)]));
  const codes = [...codeOf.values()].filter((code) => code !== null);
  const { rows } = await sql<{ name: string }>`
    SELECT short_code AS name FROM pastes
    WHERE short_code = ANY (${codes}) AND status = 'PROCESSED' AND ${isThere('pastes')}
    UNION ALL
    SELECT storage_path FROM assets
    WHERE job_id = ANY (${jobObjectsOf(keys).map(({ jobId }) => jobId)}::uuid[]) AND storage_path = ANY (${keys}::text[])
      AND position IS NULL`.execute(db);
  const served = new Set(rows.map(({ name }) => name));
  return new Set(keys.filter((key) => served.has(codeOf.get(key) ?? key)));
}

/** Those of the keys that are in the folder of a job. */
function jobObjectsOf(keys: readonly string[]): readonly JobObject[] {
  return keys.flatMap((key) => {
    const jobId = jobIdOfKey(key);
    return jobId === null ? [] : [{ jobId, key }];
  });
}

/** An object in the folder of a job. */
interface JobObject {
  readonly jobId: string;
  readonly key: string;
}

/**
 * Returns the keys of objects that belong to no asset: the job has ended or has no row, and none of its
 * assets is stored there. An object of an open job may still become an asset. An object that is returned here
 * never will: a job does not leave a terminal state, and no key is used twice. One statement has one
 * snapshot: the job cannot create its asset and end between two reads. The ids and keys in the two searches
 * only bound what each reads.
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

/** Returns the ids of those jobs that have not ended: a worker may be running them. @param ids UUIDs */
export async function findOpenJobs(db: Database, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM jobs WHERE id = ANY (${ids}::uuid[]) AND completed_at IS NULL`.execute(db);
  return new Set(rows.map((row) => row.id));
}

/** The current time by the clock of the database, which all times in the tables come from. */
export async function databaseTime(db: Database): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`SELECT now()`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('databaseTime: SELECT now() returned no row');
  return row.now;
}

/**
 * Short codes of pastes that should have an object, after `after` and up to `upTo` (null: no bound) in byte
 * order, at most `limit`. Only pastes that were PROCESSED before `before` and may still be served. Those that
 * are gone are left out: a cleanup may have deleted the object, died before it settled the deletion, and been
 * reset by the watchdog. The next cleanup settles these pastes.
 */
export async function findStored(
  db: Database,
  { after, upTo, before, limit }: { after: string; upTo: string | null; before: Date; limit: number },
): Promise<readonly string[]> {
  const { rows } = await sql<{ short_code: string }>`
    SELECT short_code FROM pastes
    WHERE short_code > ${after} AND (${upTo}::text IS NULL OR short_code <= ${upTo})
      AND status = 'PROCESSED' AND processed_at < ${before} AND ${isThere('pastes')}
    ORDER BY short_code LIMIT ${limit}`.execute(db);
  return rows.map((row) => row.short_code);
}

/**
 * Storage paths of assets in the folders of jobs, after `after` and up to `upTo` (null: no bound) in byte
 * order, at most `limit`. Only assets that were created before `before`, and none of a job that ended more
 * than `retentionSeconds` ago: the `jobs` sweep may be deleting its objects, and then its rows.
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

export interface Orphan {
  readonly key: string;
  /** As S3 gives it. */
  readonly lastModified: Date;
}

/**
 * Records objects without a live row, as seen by the run that started at `seenAt`. The grace period of an
 * object that is known already continues, unless the object was written again since.
 */
export async function recordOrphans(db: Database, orphans: readonly Orphan[], seenAt: Date): Promise<void> {
  if (orphans.length === 0) return;
  await sql`
    INSERT INTO orphan_objects AS known (key, last_modified, first_seen_at, last_seen_at)
    SELECT key, last_modified, ${seenAt}, ${seenAt}
    FROM unnest(${orphans.map(({ key }) => key)}::text[], ${orphans.map((each) => each.lastModified)}::timestamptz[])
      AS found (key, last_modified)
    ON CONFLICT (key) DO UPDATE SET last_modified = excluded.last_modified,
      last_seen_at = greatest(known.last_seen_at, excluded.last_seen_at),
      first_seen_at = CASE WHEN known.last_modified = excluded.last_modified THEN least(known.first_seen_at, excluded.first_seen_at)
        ELSE excluded.first_seen_at END`.execute(db);
}

/** Which orphans a run may delete. */
export interface DueOrphans {
  /** The start of the run: only what the run itself has seen, or a later one. */
  readonly seenAt: Date;
  readonly graceSeconds: number;
}

/** How many orphans were seen by this run and were first seen at least the grace period before it. */
export async function countDueOrphans(db: Database, due: DueOrphans): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM orphan_objects WHERE ${isDue(due)}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Keys of due orphans after `after`, in byte order, at most `limit`. */
export async function findDueOrphans(
  db: Database,
  { after, limit, ...due }: DueOrphans & { readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const { rows } = await sql<{ key: string }>`
    SELECT key FROM orphan_objects WHERE ${isDue(due)} AND key > ${after} ORDER BY key LIMIT ${limit}`.execute(
    db,
  );
  return rows.map(({ key }) => key);
}

/** Forgets orphans whose objects were deleted. */
export async function forgetOrphans(db: Database, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await sql`DELETE FROM orphan_objects WHERE key = ANY (${keys}::text[])`.execute(db);
}

/**
 * Forgets orphans that the complete run that started at `seenAt` did not see: their objects are gone, or are
 * live again.
 * @returns how many
 */
export async function forgetUnseenOrphans(db: Database, seenAt: Date): Promise<number> {
  return affectedRows(
    await sql`DELETE FROM orphan_objects WHERE last_seen_at NOT BETWEEN ${seenAt} AND now()`.execute(db),
  );
}

function isDue({ seenAt, graceSeconds }: DueOrphans) {
  return sql<boolean>`last_seen_at BETWEEN ${seenAt} AND now()
    AND first_seen_at <= ${seenAt}::timestamptz - make_interval(secs => ${graceSeconds})`;
}
