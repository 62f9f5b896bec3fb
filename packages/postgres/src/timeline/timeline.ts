import type { Selectable } from 'kysely';
import type { Database } from '../database/database.ts';
import type { StateTransitionsTable } from '../schema/state-transitions.ts';
import type { ExecutionKind, TaskExecutionsTable } from '../schema/task-executions.ts';

const executionColumns = [
  'id',
  'kind',
  'subject_id',
  'attempt',
  'status',
  'run_at',
  'dispatched_at',
  'worker_id',
  'lease_expires_at',
  'created_at',
  'started_at',
  'finished_at',
  'error',
] as const satisfies readonly (keyof TaskExecutionsTable)[];

type TimelineExecution = Pick<Selectable<TaskExecutionsTable>, (typeof executionColumns)[number]>;

export interface Timeline {
  readonly transitions: readonly Selectable<StateTransitionsTable>[];
  readonly executions: readonly TimelineExecution[];
}

/**
 * The recorded transitions of a paste and of the executions of its upload, oldest first, and these executions.
 * The transitions include those of the FAILED pastes that this paste has replaced. They are sorted by id,
 * which is the order of the commits for one paste, also after the clock was set back.
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
    .select(executionColumns)
    .where('subject_id', '=', subjectId)
    .where('kind', '=', kind)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  const predecessors = kind === 'upload' ? await findPredecessors(db, subjectId) : [];
  const transitions = await db
    .selectFrom('state_transitions')
    .selectAll()
    .where('entity', 'in', [subjectId, ...executions.map(({ id }) => id), ...predecessors])
    .orderBy('id')
    .execute();
  return { transitions, executions };
}

/** The FAILED pastes that a retried paste has replaced, and their executions. */
async function findPredecessors(db: Database, pasteId: string): Promise<readonly string[]> {
  const retries = await db
    .selectFrom('paste_retries')
    .select(['retried_from', 'execution_ids'])
    .where('paste_id', '=', pasteId)
    .execute();
  return retries.flatMap(({ retried_from, execution_ids }) => [retried_from, ...execution_ids]);
}
