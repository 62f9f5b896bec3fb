import type { Generated } from 'kysely';
import type { TaskExecutionState } from '@pasteflow/domain';

export const executionKinds = ['upload', 'job', 'webhook'] as const;

export type ExecutionKind = (typeof executionKinds)[number];

export interface TaskExecutionsTable {
  id: Generated<string>;
  kind: ExecutionKind;
  /** The paste (upload), the job or the delivery (webhook) that this is an attempt at. */
  subject_id: string;
  /** From 1. The execution after an interrupted one has the same number. */
  attempt: number;
  /** How often the work was lost before this execution. A loss spends no attempt. */
  losses: Generated<number>;
  status: Generated<TaskExecutionState>;
  run_at: Generated<Date>;
  /** When the last message was sent; NULL: none was sent. There are none for webhooks, which are claimed without. */
  dispatched_at: Date | null;
  worker_id: string | null;
  lease_expires_at: Date | null;
  created_at: Generated<Date>;
  started_at: Date | null;
  finished_at: Date | null;
  error: string | null;
  /** The user of the job or of the endpoint; NULL for an upload, and for an endpoint of the operators. */
  user_id: string | null;
  /** The endpoint of a webhook's delivery; NULL for other executions. */
  endpoint_id: string | null;
  /**
   * The turn of a job's first attempt, and of one after it has yielded (take_job_turn). The lowest turn is
   * claimed first; NULL before all others.
   */
  turn: string | null;
  /** Who inserted the execution for stranded work, and why; NULL for all other executions. */
  rescued_by: string | null;
  rescue_reason: string | null;
}

/** A kind of work that operators can pause. */
export interface WorkKindsTable {
  /** `uploads`, `webhooks`, or a type of jobs. */
  kind: string;
  /** NULL: the kind is not paused. */
  paused_at: Date | null;
  paused_by: string | null;
  /** In the words of the operator. */
  pause_reason: string | null;
  /** When the last pause ended; NULL: there was none. */
  resumed_at: Date | null;
}
