import { parseReason } from '@pasteflow/domain';
import type { Database } from '../database/database.ts';

/** Whether an execution that this process no longer owns was ended by a cancel of its job, and not as a zombie. */
export async function wasCancelled(db: Database, executionId: string): Promise<boolean> {
  const row = await db
    .selectFrom('task_executions')
    .select('error')
    .where('id', '=', executionId)
    .executeTakeFirst();
  const error = row?.error ?? null;
  return error !== null && parseReason(error).class === 'cancelled';
}
