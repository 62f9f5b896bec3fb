import {
  findExecutionsAhead,
  inHalves,
  resetExecutionTimes,
  type Database,
  type ExecutionKind,
} from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import { MAX_NAMED } from '../running/findings.ts';
import type { WorkQueue } from './work-queue.ts';

/** The table of executions, for the rows that Postgres refuses. */
export const EXECUTIONS = 'task_executions';

interface OfKind {
  readonly db: Database;
  readonly kind: ExecutionKind;
  readonly logger: Logger;
}

/** See `WorkQueue.resetTimes`. */
export async function resetTimes(
  { db, kind, logger }: OfKind,
  { bounds, limit, refused }: Parameters<WorkQueue['resetTimes']>[0],
): Promise<number> {
  const waiting = new Set(refused.waiting(EXECUTIONS));
  const found = await findExecutionsAhead(db, kind, { bounds, limit });
  const own = { delaySeconds: bounds.delaySeconds[kind], leaseSeconds: bounds.leaseSeconds };
  const parts = await inHalves(
    found.filter((id) => !waiting.has(id)),
    (part) => resetExecutionTimes(db, part, own),
    refused.of(EXECUTIONS),
  );
  const ids = parts.flat();
  if (ids.length > 0)
    logger.warn('times that were ahead of the clock of Postgres reset', {
      kind,
      count: ids.length,
      ids: ids.slice(0, MAX_NAMED),
    });
  return ids.length;
}
