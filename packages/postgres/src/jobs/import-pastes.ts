import { ExecutionTakenError } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import type { NewPaste } from '../pastes/create-paste.ts';
import { whileRunning } from '../executions/fence.ts';
import { countImportedBytes } from './imported-bytes.ts';

/** An entry of the input of a job, and the paste that is created from it. */
export interface ImportEntry {
  /** The number of the entry, from 0. A position of a job becomes a paste at most once. */
  readonly position: number;
  readonly paste: NewPaste;
  /** The URL of the asset: where the content will be stored, `s3://bucket/key`. */
  readonly url: string;
  /** The storage path of the asset: the key in the bucket. */
  readonly storagePath: string;
}

export interface ImportedPaste {
  readonly position: number;
  readonly shortCode: string;
  /** The execution of the upload. */
  readonly executionId: string;
}

interface ImportedRow {
  position: number | null;
  shortCode: string;
  executionId: string;
}

/**
 * Creates pastes from the entries of a job, each with its payload, its PENDING upload and its asset, all or
 * none, in one statement. A position whose short code was taken, or whose content is blocked, is missing in
 * the result; the caller asks `findBlocked` about it, and tries again with another code.
 *
 * Fenced by the execution of the job, which stays locked until the commit. Its lease cannot be renewed in the
 * meantime, so a batch should take well under a second (1000 small pastes, or 8 MiB). Each content is a
 * parameter of its own, which pg sends as bytes (in an array, as hex), and is not part of a CTE, which
 * Postgres would write to temporary files. The pastes are inserted in the order of their codes, so that
 * concurrent imports cannot deadlock.
 * @throws ExecutionTakenError when the execution is not RUNNING, or a unique violation (23505 of
 * assets_position) when one of the positions was imported before; no paste was created
 */
export async function importPastes(
  db: Database,
  { executionId, jobId, entries }: { executionId: string; jobId: string; entries: readonly ImportEntry[] },
): Promise<readonly ImportedPaste[]> {
  if (entries.length === 0) return [];
  const of = <T>(value: (paste: NewPaste) => T) => entries.map(({ paste }) => value(paste));
  const { rows } = await sql<ImportedRow>`
    WITH ${whileRunning({ executionId, jobId })},
    entry AS MATERIALIZED (
      SELECT DISTINCT ON (t.short_code) t.*, running.*
      FROM running, unnest(
        ${entries.map((entry) => entry.position)}::integer[],
        ${entries.map((entry) => entry.url)}::text[],
        ${entries.map((entry) => entry.storagePath)}::text[],
        ${of((paste) => paste.shortCode)}::text[],
        ${of((paste) => paste.userId)}::uuid[],
        ${of((paste) => paste.visibility)}::text[],
        ${of((paste) => paste.contentHash)}::text[],
        ${of((paste) => paste.content.length)}::integer[],
        ${of((paste) => paste.title)}::text[],
        ${of((paste) => paste.syntax)}::text[],
        ${of((paste) => paste.encrypted ?? false)}::boolean[],
        ${of((paste) => paste.expiresInSeconds)}::float8[],
        ${of((paste) => paste.deleteTokenHash)}::bytea[],
        ${of((paste) => paste.burn ?? false)}::boolean[]
      ) WITH ORDINALITY AS t (position, url, storage_path, short_code, owner_id, visibility, content_hash, size_bytes, title, syntax,
        encrypted, expires_in, delete_token_hash, burn, n)
      ORDER BY t.short_code, t.n
    ), paste AS (
      INSERT INTO pastes (short_code, user_id, visibility, content_hash, size_bytes, title, syntax, encrypted, expires_at, delete_token_hash,
        burn)
      SELECT short_code, owner_id, visibility, content_hash, size_bytes, title, syntax, encrypted, now() + make_interval(secs => expires_in),
        delete_token_hash, burn
      FROM entry
      WHERE NOT EXISTS (SELECT FROM content_blocks b WHERE b.content_hash = entry.content_hash AND b.unblocked_at IS NULL)
      ORDER BY short_code
      ON CONFLICT (short_code) DO NOTHING
      RETURNING id, short_code
    ), made AS MATERIALIZED (
      SELECT paste.id, entry.* FROM paste JOIN entry USING (short_code)
    ), payload AS (
      INSERT INTO paste_payloads (paste_id, content, user_id)
      SELECT id, (ARRAY[${sql.join(of((paste) => sql`${paste.content}::bytea`))}])[n], owner_id FROM made
    ), execution AS (
      INSERT INTO task_executions (kind, subject_id, attempt) SELECT 'upload', id, 1 FROM made RETURNING id, subject_id
    ), asset AS (
      INSERT INTO assets (job_id, user_id, asset_type, url, storage_path, file_size, position)
      SELECT job_id, user_id, 'paste', url, storage_path, size_bytes, position FROM made
    ), imported AS (
      ${countImportedBytes('made')}
    )
    SELECT made.position, made.short_code AS "shortCode", execution.id AS "executionId"
    FROM running LEFT JOIN (made JOIN execution ON execution.subject_id = made.id) ON true
    ORDER BY made.position`.execute(db);
  if (rows.length === 0) throw new ExecutionTakenError(executionId);
  return rows.filter((row): row is ImportedPaste => row.position !== null);
}

/** The positions of a job that have become pastes, for an attempt that resumes the job. */
export async function importedPositions(db: Database, jobId: string): Promise<ReadonlySet<number>> {
  const { rows } = await sql<{ position: number }>`
    SELECT position FROM assets WHERE job_id = ${jobId} AND position IS NOT NULL`.execute(db);
  return new Set(rows.map(({ position }) => position));
}
