import { ExecutionTakenError } from '@pasteflow/domain';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database.ts';
import { whileRunning } from '../executions/fence.ts';
import { entriesOf, insertPastes, isNotBlocked, type NewPaste } from '../pastes/insert-pastes.ts';
import { affordableEntries, ifAffordable, type Quotas } from '../pastes/quotas.ts';
import { countInWindow, nowMs } from '../requests/rate-limits.ts';

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
 * none, in one statement. A position whose short code was taken, or whose content is blocked, or which the
 * quotas don't allow, is missing in the result; the caller asks `findBlocked` and `findQuotaRefusal` about
 * it, and tries again with another code.
 *
 * Fenced by the execution of the job, which stays locked until the commit. Its lease cannot be renewed in the
 * meantime, so a batch should take well under a second (1000 small pastes, or 8 MiB).
 * @throws ExecutionTakenError when the execution is not RUNNING, or a unique violation (23505 of
 * assets_position) when one of the positions was imported before; no paste was created
 */
export async function importPastes(
  db: Database,
  {
    executionId,
    jobId,
    entries,
    quotas = null,
  }: { executionId: string; jobId: string; entries: readonly ImportEntry[]; quotas?: Quotas | null },
): Promise<readonly ImportedPaste[]> {
  if (entries.length === 0) return [];
  const { entries: pastes, content } = entriesOf(
    entries.map(({ paste }) => ({ ...paste, counted: quotas !== null })),
  );
  const { rows } = await sql<ImportedRow>`
    WITH ${whileRunning({ executionId, jobId })},
    entry AS MATERIALIZED (
      SELECT entry.*, place.*, running.job_id
      FROM running, ${pastes} JOIN unnest(
        ${entries.map(({ position }) => position)}::integer[],
        ${entries.map(({ url }) => url)}::text[],
        ${entries.map(({ storagePath }) => storagePath)}::text[]
      ) WITH ORDINALITY AS place (position, url, storage_path, number) ON place.number = entry.n
    ), ${quotas === null ? sql`` : sql`${affordableEntries(quotas, null)}, `}${insertPastes({
      from: 'entry',
      where: sql`${isNotBlocked(sql`entry.content_hash`)}${ifAffordable(quotas)}`,
      content,
    })},
    made AS MATERIALIZED (
      SELECT paste.id, entry.* FROM paste JOIN entry USING (short_code)
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

/** The positions that have become pastes, for an attempt that resumes the job. */
export interface ImportedPositions {
  readonly own: ReadonlySet<number>;
  /** Of the jobs that this one retries. */
  readonly earlier: ReadonlySet<number>;
}

/** @returns null when a job that this one retries was removed, so that nobody knows what it has imported */
export async function importedPositions(db: Database, jobId: string): Promise<ImportedPositions | null> {
  const { rows } = await sql<{ position: number | null; own: boolean; broken: boolean }>`
    WITH RECURSIVE line AS (
      SELECT id, retry_of FROM jobs WHERE id = ${jobId}
      UNION SELECT j.id, j.retry_of FROM line JOIN jobs j ON j.id = line.retry_of
    )
    SELECT a.position, line.id = ${jobId} AS own,
      line.retry_of IS NOT NULL AND NOT EXISTS (SELECT FROM jobs j WHERE j.id = line.retry_of) AS broken
    FROM line LEFT JOIN assets a ON a.job_id = line.id AND a.position IS NOT NULL`.execute(db);
  if (rows.some(({ broken }) => broken)) return null;
  const positionsOf = (own: boolean) =>
    new Set(rows.flatMap((row) => (row.own === own && row.position !== null ? [row.position] : [])));
  return { own: positionsOf(true), earlier: positionsOf(false) };
}

/**
 * The counter of the bytes of a user's pastes. The api counts those of new pastes, and an import adds its
 * own.
 */
const BYTES_OF_USER = 'bytes:user:';

/**
 * An INSERT that adds the bytes of an import to the counter of its user.
 * @param made the name of a CTE with `user_id` and `size_bytes`
 */
function countImportedBytes(made: string): RawBuilder<unknown> {
  return sql`
    INSERT INTO rate_limits AS counter (key, points, expire)
    SELECT ${sql.lit(BYTES_OF_USER)} || user_id, sum(size_bytes), ${nowMs} + 3600000 FROM ${sql.table(made)} GROUP BY user_id
    ${countInWindow}`;
}

/**
 * The seconds until the user may create more bytes; null: the user has created fewer than `maxBytes` in this
 * hour.
 */
export async function secondsUntilBytesAllowed(
  db: Database,
  userId: string,
  maxBytes: number,
): Promise<number | null> {
  const { rows } = await sql<{ seconds: number }>`
    SELECT (expire - ${nowMs}) / 1000.0::float8 AS seconds FROM rate_limits
    WHERE key = ${BYTES_OF_USER + userId} AND points >= ${maxBytes}::bigint
      AND expire > ${nowMs} AND expire <= ${nowMs} + 3660000`.execute(db);
  return rows[0]?.seconds ?? null;
}
