import { ALL_REFUSED, parseReason, storedReason } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

/** Uploads that wait because S3 refuses everything that the workers send. */
export interface RefusedUploads {
  /** What S3 answered: `S3 answered 403 InvalidAccessKeyId`. */
  readonly answer: string;
  /** Among the oldest uploads. */
  readonly count: number;
}

/** The oldest uploads were tried before those that wait behind them. */
const MAX_SCANNED = 100;

/** The most frequent answer comes first. */
export async function findRefusedUploads(db: Database): Promise<readonly RefusedUploads[]> {
  const { rows } = await sql<{ error: string; count: number }>`
    SELECT last.error, count(*)::integer AS count
    FROM (SELECT paste_id FROM paste_payloads ORDER BY paste_id LIMIT ${MAX_SCANNED}) AS oldest
      CROSS JOIN LATERAL (
        SELECT e.error FROM task_executions e WHERE e.subject_id = oldest.paste_id AND e.kind = 'upload' AND e.finished_at IS NOT NULL
        ORDER BY e.finished_at DESC, e.id DESC LIMIT 1) AS last
    WHERE starts_with(last.error, ${storedReason('storage_refused', ALL_REFUSED)})
    GROUP BY 1 ORDER BY 2 DESC, 1`.execute(db);
  return rows.map(({ error, count }) => ({ answer: answerIn(error), count }));
}

function answerIn(error: string): string {
  return (parseReason(error).text ?? error).slice(`${ALL_REFUSED}: `.length);
}
