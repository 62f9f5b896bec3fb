import { sql } from 'kysely';
import type { Database } from '../database.ts';

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

/** Which of these jobs have a row: what lies in the bucket for any other is nobody's. @param ids UUIDs */
export async function findLiveJobs(db: Database, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`SELECT id FROM jobs WHERE id = ANY (${ids}::uuid[])`.execute(db);
  return new Set(rows.map((row) => row.id));
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
