import {
  isTerminal,
  job,
  pasteUpload,
  type JobState,
  type Machine,
  type PasteUploadState,
} from '@pasteflow/domain';
import { sql, type Selectable } from 'kysely';
import type { Database } from '../database/database.ts';
import { isThere } from '../schema/pastes.ts';
import type { StateTransitionsTable } from '../schema/audit-trail.ts';
import type { ExecutionKind } from '../schema/executions.ts';

/** What is read of one paste (`upload`) or job. */
export interface Subscription {
  readonly kind: ExecutionKind;
  readonly id: string;
  /** Reads its transitions, and those of its executions, with a greater id than this. null: none. */
  readonly after: number | null;
}

export type SnapshotTransition = Omit<Selectable<StateTransitionsTable>, 'id'> & { readonly id: number };

/** A paste or job at one instant. */
export interface Snapshot {
  readonly id: string;
  readonly status: PasteUploadState | JobState;
  /** The status is terminal. */
  readonly settled: boolean;
  /** The paste has expired or was deleted. Always false for a job. */
  readonly gone: boolean;
  /** null for a paste. */
  readonly progress: { readonly percent: number; readonly message: string | null } | null;
  /**
   * In the order of their commits. For one paste or job that is the order of the ids, since each transition
   * holds a row that the transition before it held.
   */
  readonly transitions: readonly SnapshotTransition[];
  /** False: there are more transitions than these. */
  readonly complete: boolean;
}

/** For one paste or job in one read. It has about five, and more when it was interrupted often. */
const MAX_TRANSITIONS = 200;

interface StateJson {
  readonly status: PasteUploadState | JobState;
  readonly gone: boolean;
  readonly progress: number | null;
  readonly progress_message: string | null;
}

interface ChangesRow {
  readonly id: string;
  readonly kind: ExecutionKind;
  /** null: the row was removed. */
  readonly state: StateJson | null;
  readonly transitions: readonly (Omit<SnapshotTransition, 'at'> & { readonly at: string })[];
}

/**
 * Reads any number of pastes and jobs with one statement. An id that is missing from the result was removed.
 */
export async function readChanges(
  db: Database,
  subscriptions: readonly Subscription[],
): Promise<ReadonlyMap<string, Snapshot>> {
  if (subscriptions.length === 0) return new Map();
  const [ids, kinds, afters] = [
    subscriptions.map(({ id }) => id),
    subscriptions.map(({ kind }) => kind),
    subscriptions.map(({ after }) => after),
  ];
  const { rows } = await sql<ChangesRow>`
    SELECT s.id, s.kind, CASE s.kind WHEN 'upload' THEN (
        SELECT json_build_object('status', p.status, 'gone', NOT ${isThere('p')}) FROM pastes p WHERE p.id = s.id
      ) ELSE (
        SELECT json_build_object('status', j.status, 'gone', false, 'progress', j.progress,
          'progress_message', j.progress_message)
        FROM jobs j WHERE j.id = s.id
      ) END AS state,
      CASE WHEN s.after IS NULL THEN '[]' ELSE (
        SELECT coalesce(json_agg(t ORDER BY t.id), '[]') FROM (
          SELECT t.* FROM (
            SELECT s.id UNION ALL SELECT e.id FROM task_executions e WHERE e.subject_id = s.id AND e.kind = s.kind
          ) AS entity (id), LATERAL (
            SELECT * FROM state_transitions t WHERE t.entity = entity.id AND t.id > s.after OFFSET 0
          ) AS t
          ORDER BY t.id LIMIT ${MAX_TRANSITIONS}::integer
        ) AS t
      ) END AS transitions
    FROM unnest(${ids}::uuid[], ${kinds}::text[], ${afters}::bigint[]) AS s (id, kind, after)`.execute(db);
  return new Map(rows.flatMap((row) => (row.state === null ? [] : [[row.id, snapshotOf(row, row.state)]])));
}

function snapshotOf({ id, kind, transitions }: ChangesRow, state: StateJson): Snapshot {
  const { status, gone, progress, progress_message: message } = state;
  return {
    id,
    status,
    settled: isTerminal<Machine>(kind === 'upload' ? pasteUpload : job, status),
    gone,
    progress: kind === 'job' ? { percent: progress ?? 0, message } : null,
    transitions: transitions.map((each) => ({ ...each, at: new Date(each.at) })),
    complete: transitions.length < MAX_TRANSITIONS,
  };
}
