import type { TakedownClass } from '@pasteflow/domain';
import type { Selectable } from 'kysely';
import type { Database } from '../database/database.ts';
import type { StateTransitionsTable } from '../schema/audit-trail.ts';
import type { ExecutionKind, TaskExecutionsTable } from '../schema/executions.ts';

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
  'rescued_by',
  'rescue_reason',
] as const satisfies readonly (keyof TaskExecutionsTable)[];

type TimelineExecution = Pick<Selectable<TaskExecutionsTable>, (typeof executionColumns)[number]>;

/** An operator retried a FAILED paste: this paste replaced the paste `from`, whose row is gone. */
interface TimelineRetry {
  readonly from: string;
  readonly at: Date;
  readonly actor: string;
  /** null: the operator gave no reason. */
  readonly reason: string | null;
}

/** An operator took the paste down. */
export interface TimelineTakedown {
  readonly at: Date;
  readonly actor: string;
  readonly class: TakedownClass;
  readonly reason: string;
}

export interface Timeline {
  readonly transitions: readonly Selectable<StateTransitionsTable>[];
  readonly executions: readonly TimelineExecution[];
  /** Oldest first. Empty for a job. */
  readonly retries: readonly TimelineRetry[];
}

/**
 * The recorded transitions of a paste and of the executions of its upload, oldest first, and these
 * executions. The transitions include those of the FAILED pastes that this paste has replaced. They are
 * sorted by id, which is the order of the commits for one paste, also after the clock was set back.
 */
export function readTimeline(db: Database, pasteId: string): Promise<Timeline> {
  return readTransitions(db, 'upload', pasteId);
}

/** The recorded transitions of a job and of its executions, oldest first, and these executions. */
export function readJobTimeline(db: Database, jobId: string): Promise<Timeline> {
  return readTransitions(db, 'job', jobId);
}

/** The recorded transitions of a delivery of a webhook and of its executions, oldest first, and these executions. */
export function readDeliveryTimeline(db: Database, deliveryId: string): Promise<Timeline> {
  return readTransitions(db, 'webhook', deliveryId);
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
  const retries = kind === 'upload' ? await findRetries(db, subjectId) : [];
  const predecessors = retries.flatMap(({ from, executionIds }) => [from, ...executionIds]);
  const transitions = await db
    .selectFrom('state_transitions')
    .selectAll()
    .where('entity', 'in', [subjectId, ...executions.map(({ id }) => id), ...predecessors])
    .orderBy('id')
    .execute();
  return {
    transitions,
    executions,
    retries: retries.map(({ executionIds: _, ...retry }) => retry),
  };
}

/** Only for operators: the api may not read it. */
export async function readTakedown(db: Database, pasteId: string): Promise<TimelineTakedown | null> {
  const found = await db
    .selectFrom('takedowns')
    .select(['taken_down_at as at', 'actor', 'class', 'reason'])
    .where('paste_id', '=', pasteId)
    .executeTakeFirst();
  return found ?? null;
}

/** The retries that led to a paste, with the executions of the FAILED pastes. */
function findRetries(
  db: Database,
  pasteId: string,
): Promise<readonly (TimelineRetry & { readonly executionIds: readonly string[] })[]> {
  return db
    .selectFrom('paste_retries')
    .select(['retried_from as from', 'execution_ids as executionIds', 'retried_at as at', 'actor', 'reason'])
    .where('paste_id', '=', pasteId)
    .orderBy('retried_at')
    .orderBy('retried_from')
    .execute();
}
