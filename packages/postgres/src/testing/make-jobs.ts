import { JOB_OBJECT_KEY_PREFIX, type JobState } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { importRows } from './rows.ts';
import {
  ago,
  endedExecution,
  insertExecutions,
  openExecution,
  type ExecutionColumns,
  type ExecutionShape,
} from './made-executions.ts';

interface AnyJob {
  readonly userId: string;
  readonly jobType?: string;
  readonly parameters?: object;
  readonly createdSecondsAgo?: number;
}

interface EndedWithAssets {
  readonly completedSecondsAgo?: number;
  readonly result?: object;
  /** Default: 1. */
  readonly assets?: number;
}

/** What a test may choose for a job of each status. */
interface ShapeOfStatus {
  queued: { readonly execution?: Extract<ExecutionShape, { status: 'PENDING' }> };
  processing: {
    /** Default: RUNNING. PENDING: the next attempt waits. */
    readonly execution?: ExecutionShape;
    readonly progress?: number;
    readonly assets?: number;
  };
  completed: EndedWithAssets;
  partial: EndedWithAssets;
  failed: { readonly completedSecondsAgo?: number; readonly result?: object };
}

/**
 * A shape for each status: a test cannot ask for a row that the CHECKs of the schema refuse, or that no run
 * of a job leaves behind.
 */
export type JobShape = AnyJob &
  { [Status in JobState]: { readonly status: Status } & ShapeOfStatus[Status] }[JobState];

export interface MadeJob {
  readonly id: string;
  /** The open execution, or the one that ended last. */
  readonly executionId: string;
}

/**
 * Creates `count` jobs of one shape, each with its execution and assets, in one statement that imports legal
 * rows only.
 */
export async function makeJobs(db: Database, count: number, shape: JobShape): Promise<readonly MadeJob[]> {
  const { jobType = 'import', parameters = {}, createdSecondsAgo: age = 60 } = shape;
  const { progress, assets, completedSecondsAgo, result, error } = columnsOf(shape, age);
  const { rows } = await importRows(db, (importing) =>
    sql<MadeJob>`
    WITH job AS (
      INSERT INTO jobs (user_id, job_type, parameters, status, progress, result, error_message, created_at, updated_at, completed_at)
      SELECT ${shape.userId}::uuid, ${jobType}, ${JSON.stringify(parameters)}::jsonb, ${shape.status}, ${progress}::integer,
        ${result === null ? null : JSON.stringify(result)}::jsonb, ${error}, ${ago(age)}, ${ago(completedSecondsAgo ?? age)},
        ${ago(completedSecondsAgo)}
      FROM generate_series(1, ${count}::integer)
      RETURNING id, user_id
    ), asset AS (
      INSERT INTO assets (job_id, user_id, asset_type, url, storage_path, file_size, created_at)
      SELECT id, user_id, 'archive', 's3://pasteflow/' || path, path, 1, ${ago(age)}
      FROM job, LATERAL (SELECT ${JOB_OBJECT_KEY_PREFIX} || job.id || '/made-' || n FROM generate_series(1, ${assets}::integer) n) AS made (path)
    ), ${insertExecutions('job', 'job', executionOf(shape, age), age)}
    SELECT job.id, execution.id AS "executionId" FROM job JOIN execution ON execution.subject_id = job.id ORDER BY job.id`.execute(
      importing,
    ),
  );
  return rows;
}

interface JobColumns {
  readonly progress: number;
  readonly assets: number;
  readonly completedSecondsAgo: number | null;
  readonly result: object | null;
  readonly error: string | null;
}

function columnsOf(shape: JobShape, age: number): JobColumns {
  const open = { progress: 0, assets: 0, completedSecondsAgo: null, result: null, error: null };
  switch (shape.status) {
    case 'queued':
      return open;
    case 'processing':
      return { ...open, progress: shape.progress ?? 0, assets: shape.assets ?? 0 };
    case 'completed':
    case 'partial': {
      const { assets = 1, completedSecondsAgo = age, result = {} } = shape;
      const error = shape.status === 'partial' ? 'made to fail in part' : null;
      return { progress: 100, assets, completedSecondsAgo, result, error };
    }
    case 'failed': {
      const { completedSecondsAgo = age, result = null } = shape;
      return { ...open, completedSecondsAgo, result, error: 'made to fail' };
    }
    default:
      return shape satisfies never;
  }
}

function executionOf(shape: JobShape, age: number): ExecutionColumns {
  switch (shape.status) {
    case 'queued':
      return openExecution(shape.execution ?? { status: 'PENDING' }, age);
    case 'processing':
      return openExecution(shape.execution ?? { status: 'RUNNING' }, age);
    case 'completed':
    case 'partial':
    case 'failed': {
      const error = shape.status === 'failed' ? 'made to fail' : null;
      const { completedSecondsAgo: finishedSecondsAgo = age } = shape;
      return endedExecution({ attempt: error === null ? 1 : 6, error }, { age, finishedSecondsAgo });
    }
    default:
      return shape satisfies never;
  }
}
