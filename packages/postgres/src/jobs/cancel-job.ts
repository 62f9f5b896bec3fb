import { storedReason, type job, type OpenStateOf } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import { storableText } from '../database/storable.ts';

type OpenJobState = OpenStateOf<typeof job>;

export interface Cancellation {
  readonly jobId: string;
  readonly actor: Actor;
  /** Who cancels, for the owner of the job: `its owner`. */
  readonly by: string;
}

/**
 * Ends a job that waits or runs, as `failed`, or as `partial` when it has assets. Its worker loses the
 * execution, and learns of that by its next heartbeat or its next write.
 * @returns the state that the job was in; null when it has no open execution: it has ended, it is stranded,
 * or there is no such job
 */
export async function cancelJob(
  db: Database,
  { jobId, actor, by }: Cancellation,
): Promise<OpenJobState | null> {
  const why = storableText(storedReason('cancelled', `cancelled by ${by}`));
  const { rows } = await sql<{ from: OpenJobState | null }>`
    SELECT cancel_job(${jobId}::uuid, ${actor}, ${why}) AS "from"`.execute(db);
  return rows[0]?.from ?? null;
}
