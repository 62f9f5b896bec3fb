import type { Selectable } from 'kysely';
import type { Database } from '../database/database.ts';
import type { StateTransitionsTable } from '../schema/state-transitions.ts';
import type { ExecutionKind, TaskExecutionsTable } from '../schema/task-executions.ts';

export interface Timeline {
  readonly transitions: readonly Selectable<StateTransitionsTable>[];
  readonly executions: readonly Selectable<TaskExecutionsTable>[];
}

/**
 * The recorded transitions of a paste and of the executions of its upload, oldest first, and these
 * executions.
 */
export function readTimeline(db: Database, pasteId: string): Promise<Timeline> {
  return readTransitions(db, 'upload', pasteId);
}

/** The recorded transitions of a job and of its executions, oldest first, and these executions. */
export function readJobTimeline(db: Database, jobId: string): Promise<Timeline> {
  return readTransitions(db, 'job', jobId);
}

async function readTransitions(db: Database, kind: ExecutionKind, subjectId: string): Promise<Timeline> {
  const executions = await db
    .selectFrom('task_executions')
    .selectAll()
    .where('subject_id', '=', subjectId)
    .where('kind', '=', kind)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  const transitions = await db
    .selectFrom('state_transitions')
    .selectAll()
    .where('entity', 'in', [subjectId, ...executions.map(({ id }) => id)])
    .orderBy('at')
    .orderBy('id')
    .execute();
  return { transitions, executions };
}
