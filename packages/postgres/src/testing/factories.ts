import { createHash, randomBytes } from 'node:crypto';
import { objectKeyOf, shortCodeFrom } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Database } from '../database.ts';

/** The open execution of an upload that is under way. */
export type ExecutionShape =
  | {
      readonly status: 'PENDING';
      readonly attempt?: number;
      /** Negative: due later. */
      readonly dueSecondsAgo?: number;
      /** null: no message was ever sent. */
      readonly dispatchedSecondsAgo?: number | null;
    }
  | {
      readonly status: 'RUNNING';
      readonly attempt?: number;
      readonly workerId?: string;
      /** For how long the lease still holds; negative: a zombie. */
      readonly leaseSeconds?: number;
    };

export type DeletionShape =
  | { readonly status: 'DELETION_IN_PROGRESS'; readonly secondsAgo: number }
  | { readonly status: 'DELETED'; readonly secondsAgo: number };

interface AnyPaste {
  /** Random ones unless given; their number is then that of the pastes. */
  readonly shortCodes?: readonly string[];
  readonly content?: Buffer;
  readonly createdSecondsAgo?: number;
  /** Negative: expired; null: never. */
  readonly expiresInSeconds?: number | null;
}

/** One shape a status, so that a test can't ask for a row that the schema's CHECKs refuse. */
export type PasteShape = AnyPaste &
  (
    | { readonly status: 'IN_PROGRESS'; readonly execution?: ExecutionShape }
    | { readonly status: 'PROCESSED'; readonly bucket?: string; readonly deletion?: DeletionShape }
    | { readonly status: 'FAILED'; readonly deletion?: DeletionShape }
  );

export interface MadePaste {
  readonly id: string;
  readonly shortCode: string;
  /** Of its open execution, or of the one that ended last. */
  readonly executionId: string;
}

const SETTLED_ATTEMPT = { PROCESSED: 1, FAILED: 6 } as const;

/** Makes `count` pastes of one shape, each with its payload and its execution, in one statement that inserts legal rows only. */
export async function makePastes(
  db: Database,
  count: number,
  shape: PasteShape,
): Promise<readonly MadePaste[]> {
  const { content = Buffer.from('made for a test'), createdSecondsAgo = 60, expiresInSeconds = null } = shape;
  const shortCodes = shape.shortCodes ?? Array.from({ length: count }, randomShortCode);
  const contentHash = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  const deletion = shape.status === 'IN_PROGRESS' ? undefined : shape.deletion;
  const execution = executionOf(shape);
  const { rows } = await sql<MadePaste>`
    WITH paste AS (
      INSERT INTO pastes (short_code, content_hash, size_bytes, status, s3_url, failure_reason, created_at, expires_at,
        processed_at, failed_at, deletion_status, deletion_initiated_at, deleted_at)
      SELECT short_code, ${contentHash}, ${content.length}, ${shape.status}, s3_url, ${shape.status === 'FAILED' ? 'made to fail' : null},
        ${ago(createdSecondsAgo)}, ${ago(expiresInSeconds === null ? null : -expiresInSeconds)},
        ${ago(shape.status === 'PROCESSED' ? createdSecondsAgo : null)}, ${ago(shape.status === 'FAILED' ? createdSecondsAgo : null)},
        ${deletion?.status ?? 'NOT_EXPIRED'}, ${ago(deletion?.secondsAgo ?? null)},
        ${ago(deletion?.status === 'DELETED' ? deletion.secondsAgo : null)}
      FROM unnest(${shortCodes}::text[], ${shortCodes.map((code) => urlOf(shape, code))}::text[]) AS made (short_code, s3_url)
      RETURNING id, short_code
    ), payload AS (
      INSERT INTO paste_payloads (paste_id, content) SELECT id, ${content}::bytea FROM paste WHERE ${shape.status === 'IN_PROGRESS'}
    ), execution AS (
      INSERT INTO task_executions (kind, subject_id, attempt, status, run_at, dispatched_at, created_at, worker_id, started_at,
        lease_expires_at, finished_at, error)
      SELECT 'upload', id, ${execution.attempt}, ${execution.status}, ${ago(execution.dueSecondsAgo)},
        ${ago(execution.dispatchedSecondsAgo)}, ${ago(createdSecondsAgo)}, ${execution.workerId}, ${ago(execution.startedSecondsAgo)},
        ${ago(execution.leaseSeconds === null ? null : -execution.leaseSeconds)}, ${ago(execution.finishedSecondsAgo)}, ${execution.error}
      FROM paste RETURNING id, subject_id
    )
    SELECT paste.id, paste.short_code AS "shortCode", execution.id AS "executionId"
    FROM paste JOIN execution ON execution.subject_id = paste.id ORDER BY paste.short_code`.execute(db);
  return rows;
}

function randomShortCode(): string {
  return shortCodeFrom(randomBytes(64)) ?? randomShortCode();
}

function urlOf(shape: PasteShape, shortCode: string): string | null {
  return shape.status === 'PROCESSED'
    ? `s3://${shape.bucket ?? 'pasteflow'}/${objectKeyOf(shortCode)}`
    : null;
}

/** A time before now by the database's clock; NULL for null. */
function ago(seconds: number | null) {
  return sql`now() - make_interval(secs => ${seconds}::float8)`;
}

interface ExecutionColumns {
  readonly status: string;
  readonly attempt: number;
  readonly dueSecondsAgo: number;
  readonly dispatchedSecondsAgo: number | null;
  readonly workerId: string | null;
  readonly startedSecondsAgo: number | null;
  readonly leaseSeconds: number | null;
  readonly finishedSecondsAgo: number | null;
  readonly error: string | null;
}

function executionOf(shape: PasteShape): ExecutionColumns {
  const age = shape.createdSecondsAgo ?? 60;
  const idle = {
    workerId: null,
    startedSecondsAgo: null,
    leaseSeconds: null,
    finishedSecondsAgo: null,
    error: null,
  };
  if (shape.status !== 'IN_PROGRESS') {
    return {
      status: shape.status === 'PROCESSED' ? 'SUCCEEDED' : 'FAILED',
      attempt: SETTLED_ATTEMPT[shape.status],
      dueSecondsAgo: age,
      dispatchedSecondsAgo: age,
      workerId: 'upload-worker/made',
      startedSecondsAgo: age,
      leaseSeconds: null,
      finishedSecondsAgo: age,
      error: shape.status === 'FAILED' ? 'made to fail' : null,
    };
  }
  const execution = shape.execution ?? { status: 'PENDING' };
  const { status, attempt = 1 } = execution;
  if (status === 'PENDING') {
    const { dueSecondsAgo = age, dispatchedSecondsAgo = null } = execution;
    return { ...idle, status, attempt, dueSecondsAgo, dispatchedSecondsAgo };
  }
  const { workerId = 'upload-worker/made', leaseSeconds = 6 } = execution;
  return {
    ...idle,
    status,
    attempt,
    dueSecondsAgo: age,
    dispatchedSecondsAgo: age,
    workerId,
    startedSecondsAgo: age,
    leaseSeconds,
  };
}
