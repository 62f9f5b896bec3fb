import { sql } from 'kysely';
import { affectedRows, type Database } from '../database/database.ts';
import { whileRunning } from '../executions/fence.ts';

/** An archive that an export has made. */
export interface MadeArchive<Checkpoint> {
  /** From 1. */
  readonly number: number;
  readonly bytes: number;
  readonly checkpoint: Checkpoint;
}

export interface BegunExport<Checkpoint> {
  /** RFC 3339, in microseconds: a Date would leave out pastes of the same millisecond. */
  readonly createdAt: string;
  /** Per cent. */
  readonly progress: number;
  /** In their order. */
  readonly archives: readonly MadeArchive<Checkpoint>[];
}

/** What earlier attempts at an export have made. @throws when there is no such job */
export async function readExport<Checkpoint>(db: Database, jobId: string): Promise<BegunExport<Checkpoint>> {
  const { rows } = await sql<BegunExport<Checkpoint>>`
    SELECT to_json(j.created_at) AS "createdAt", j.progress, coalesce((
      SELECT json_agg(json_build_object('number', number, 'bytes', file_size, 'checkpoint', checkpoint) ORDER BY number)
      FROM assets WHERE job_id = j.id AND number IS NOT NULL), '[]') AS archives
    FROM jobs j WHERE j.id = ${jobId}`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('readExport: there is no such job');
  return row;
}

/** An archive, by the job that it belongs to. */
export interface OldArchive {
  readonly jobId: string;
  readonly storagePath: string;
}

/**
 * Up to `limit` archives of the exports of a user that have ended, without those of the `kept` that ended last.
 * An export that is older than those stays older, so that what is found may be deleted later.
 */
export async function findOlderArchives(
  db: Database,
  { userId, kept, limit }: { userId: string; kept: number; limit: number },
): Promise<readonly OldArchive[]> {
  const { rows } = await sql<OldArchive>`
    WITH older AS MATERIALIZED (
      SELECT id FROM jobs j
      WHERE user_id = ${userId} AND job_type = 'export' AND completed_at IS NOT NULL
        AND EXISTS (SELECT FROM assets a WHERE a.job_id = j.id)
      ORDER BY completed_at DESC, id DESC OFFSET ${kept}
    )
    SELECT a.job_id AS "jobId", a.storage_path AS "storagePath" FROM older JOIN assets a ON a.job_id = older.id
    LIMIT ${limit}`.execute(db);
  return rows;
}

/**
 * Removes the rows of archives of ended jobs of the user for whom this execution works, after their objects.
 * Does nothing when this execution is not RUNNING.
 * @returns how many it removed
 */
export async function removeArchives(
  db: Database,
  { executionId, jobId, archives }: { executionId: string; jobId: string; archives: readonly OldArchive[] },
): Promise<number> {
  const result = await sql`
    WITH ${whileRunning({ executionId, jobId })}
    DELETE FROM assets a USING running, jobs j
    WHERE a.job_id = ANY (${archives.map((archive) => archive.jobId)}::uuid[])
      AND a.storage_path = ANY (${archives.map(({ storagePath }) => storagePath)}::text[])
      AND j.id = a.job_id AND j.user_id = running.user_id AND j.completed_at IS NOT NULL`.execute(db);
  return affectedRows(result);
}
