import {
  isTerminal,
  job,
  pasteUpload,
  statesOf,
  type JobState,
  type Machine,
  type PasteUploadState,
} from '@pasteflow/domain';
import { sql, type Selectable } from 'kysely';
import type { Database } from '../database/database.ts';
import type { JobRow } from '../jobs/find-jobs.ts';
import { publicPasteColumns, type PublicPaste } from '../pastes/find-paste.ts';
import { isThere } from '../schema/pastes.ts';
import { shownJobColumns } from '../schema/jobs.ts';
import type { StateTransitionsTable } from '../schema/audit-trail.ts';
import type { ExecutionKind } from '../schema/executions.ts';

/** What is read of one paste (`upload`) or job. */
export interface Subscription {
  readonly kind: ExecutionKind;
  readonly id: string;
  /** Reads its transitions, and those of its executions, with a greater id than this. null: none. */
  readonly after: number | null;
  /** When the whole row is read. The row of a job may be long: see MAX_ROW_BYTES. */
  readonly row: 'always' | 'at the end' | 'never';
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
  /** The row, if the subscription asks for it and has room for it. */
  readonly paste: PublicPaste | null;
  readonly job: Omit<JobRow, 'user_id'> | null;
  /**
   * In the order of their commits. For one paste or job that is the order of the ids, since each transition
   * holds a row that the transition before it held.
   */
  readonly transitions: readonly SnapshotTransition[];
  /** False: there are more transitions than these. */
  readonly complete: boolean;
  /** The row was asked for, and this read had no room left for it. */
  readonly postponed: boolean;
}

/** For one paste or job in one read. It has about five, and more when it was interrupted often. */
const MAX_TRANSITIONS = 200;

/**
 * A read takes no more rows of jobs once they have this much JSON together. Parameters and result have up to
 * 16 MiB each, and when a process stops, the rows of all waiting clients are read at once. The first row
 * always has room.
 */
export const MAX_ROW_BYTES = 16 * 1024 * 1024;

/**
 * Compressed text may be this many times as long as its stored form: lz4 at its best. pglz stores 273 bytes
 * in 3.
 */
const MAX_COMPRESSION_RATIO = 256;

/** A row as JSON has it: times are text. */
type Json<Row> = {
  readonly [Key in keyof Row]: Row[Key] extends Date
    ? string
    : Row[Key] extends Date | null
      ? string | null
      : Row[Key];
};

interface StateJson {
  readonly status: PasteUploadState | JobState;
  readonly gone: boolean;
  readonly progress: number | null;
  readonly progress_message: string | null;
  readonly row: unknown;
}

interface ChangesRow {
  readonly id: string;
  readonly kind: ExecutionKind;
  /** null: the row was removed. */
  readonly state: StateJson | null;
  readonly transitions: readonly Json<SnapshotTransition>[];
  readonly postponed: boolean;
}

/**
 * Reads any number of pastes and jobs with one statement. An id that is missing from the result was removed.
 * Subqueries by id instead of joins, and `OFFSET 0`, make each of them an index lookup, whatever the
 * planner's statistics say. The size of a row is known without reading the row; rows get room in the order
 * of the subscriptions.
 */
export async function readChanges(
  db: Database,
  subscriptions: readonly Subscription[],
): Promise<ReadonlyMap<string, Snapshot>> {
  if (subscriptions.length === 0) return new Map();
  const columns = sql.join(publicPasteColumns.map((column) => sql.ref(`p.${column}`)));
  const jobColumns = sql.join(shownJobColumns.map((column) => sql.ref(`j.${column}`)));
  const [ids, kinds, afters, parts] = [
    subscriptions.map(({ id }) => id),
    subscriptions.map(({ kind }) => kind),
    subscriptions.map(({ after }) => after),
    subscriptions.map(({ row }) => row),
  ];
  const { rows } = await sql<ChangesRow>`
    WITH subscribed AS MATERIALIZED (
      SELECT s.*, CASE WHEN s.kind = 'job' AND s.part <> 'never' THEN (
          SELECT ${bytesOf('j.parameters')} + ${bytesOf('j.result')} FROM jobs j
          WHERE j.id = s.id AND (s.part = 'always' OR j.status = ANY (${terminalStates(job)}))
        ) END AS bytes
      FROM unnest(${ids}::uuid[], ${kinds}::text[], ${afters}::bigint[], ${parts}::text[])
        WITH ORDINALITY AS s (id, kind, after, part, place)
    ), subscription AS MATERIALIZED (
      SELECT *, sum(bytes) OVER (ORDER BY place) - bytes < ${MAX_ROW_BYTES} AS has_room FROM subscribed
    )
    SELECT s.id, s.kind, CASE s.kind WHEN 'upload' THEN (
        SELECT json_build_object('status', p.status, 'gone', NOT ${isThere('p')}, 'row',
          CASE WHEN s.part = 'always' OR s.part = 'at the end' AND p.status = ANY (${terminalStates(pasteUpload)})
            THEN (SELECT to_json(c) FROM (SELECT ${columns}) AS c) END)
        FROM pastes p WHERE p.id = s.id
      ) ELSE (
        SELECT json_build_object('status', j.status, 'gone', false, 'progress', j.progress,
          'progress_message', j.progress_message, 'row',
          CASE WHEN s.has_room THEN (SELECT to_json(c) FROM (SELECT ${jobColumns}) AS c) END)
        FROM jobs j WHERE j.id = s.id
      ) END AS state, s.has_room IS FALSE AS postponed,
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
    FROM subscription s`.execute(db);
  return new Map(rows.flatMap((row) => (row.state === null ? [] : [[row.id, snapshotOf(row, row.state)]])));
}

/** At least as many bytes as the JSON has, apart from escaped characters. */
function bytesOf(column: string) {
  const reference = sql.ref(column);
  return sql`coalesce(pg_column_size(${reference})::bigint
    * CASE WHEN pg_column_compression(${reference}) IS NULL THEN 1 ELSE ${MAX_COMPRESSION_RATIO} END, 0)`;
}

function terminalStates(machine: typeof pasteUpload | typeof job) {
  const states: readonly string[] = statesOf<Machine>(machine).filter((state) =>
    isTerminal<Machine>(machine, state),
  );
  return sql`${states}::text[]`;
}

function snapshotOf({ id, kind, transitions, postponed }: ChangesRow, state: StateJson): Snapshot {
  const { status, gone, progress, progress_message: message, row } = state;
  return {
    id,
    status,
    settled: isTerminal<Machine>(kind === 'upload' ? pasteUpload : job, status),
    gone,
    progress: kind === 'job' ? { percent: progress ?? 0, message } : null,
    paste: kind === 'upload' && row !== null ? toPaste(row as Json<PublicPaste>) : null,
    job: kind === 'job' && row !== null ? toJob(row as Json<JobRow>) : null,
    transitions: transitions.map((each) => ({ ...each, at: new Date(each.at) })),
    complete: transitions.length < MAX_TRANSITIONS,
    postponed,
  };
}

function toPaste(row: Json<PublicPaste>): PublicPaste {
  const { created_at: createdAt, expires_at: expiresAt, processed_at: processedAt } = row;
  return {
    ...row,
    created_at: new Date(createdAt),
    expires_at: toDate(expiresAt),
    processed_at: toDate(processedAt),
  };
}

function toJob(row: Json<JobRow>): JobRow {
  const { created_at: createdAt, updated_at: updatedAt, completed_at: completedAt } = row;
  return {
    ...row,
    created_at: new Date(createdAt),
    updated_at: new Date(updatedAt),
    completed_at: toDate(completedAt),
  };
}

function toDate(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}
