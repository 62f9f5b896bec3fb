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
import { publicPasteColumns, type PasteRow, type PublicPaste } from '../pastes/find-paste.ts';
import type { StateTransitionsTable } from '../schema/state-transitions.ts';
import type { ExecutionKind } from '../schema/task-executions.ts';

/** What somebody wants to know of a paste (`upload`) or a job. */
export interface Wanted {
  readonly kind: ExecutionKind;
  readonly id: string;
  /** Its transitions, and those of its executions, with a greater id than this; null: none. */
  readonly after: number | null;
  /** When its row is wanted whole: that of a job may be long, see `LONG_ROWS_BYTES`. */
  readonly row: 'always' | 'at the end' | 'never';
}

type SeenPaste = PublicPaste & Pick<PasteRow, 'expired'>;

export type SeenTransition = Omit<Selectable<StateTransitionsTable>, 'id'> & { readonly id: number };

/** How a paste or a job was found, all of it at one instant. */
export interface Seen {
  readonly id: string;
  readonly status: PasteUploadState | JobState;
  /** Nothing leads out of its status. */
  readonly settled: boolean;
  /** Of a paste: expired or deleted. */
  readonly gone: boolean;
  readonly expiresAt: Date | null;
  /** Of a job. */
  readonly progress: { readonly percent: number; readonly message: string | null } | null;
  /** Where it was wanted. */
  readonly paste: SeenPaste | null;
  readonly job: Omit<JobRow, 'user_id'> | null;
  /** In the order of their commits, which for one paste or job is that of the ids: each holds a row of the one before locked. */
  readonly transitions: readonly SeenTransition[];
  /** There are no more transitions than these. */
  readonly complete: boolean;
  /** Its row was wanted, and this look had no room left for it. */
  readonly postponed: boolean;
}

/** Of one paste or job in one look; it has some five, and more when it was interrupted often. */
const MOST_TRANSITIONS = 200;

/**
 * A look reads no more rows of jobs once they have so much JSON together: parameters and result have up to 16 MiB each, and a stop makes
 * everybody's row be wanted at once. The first one always has room.
 */
export const LONG_ROWS_BYTES = 16 * 1024 * 1024;

/** What is compressed may be so many times as long as what is stored of it: lz4 at its best; pglz has 273 bytes in 3. */
const MOST_COMPRESSION = 256;

/** What JSON makes of a row: times as text. */
type Json<Row> = {
  readonly [Key in keyof Row]: Row[Key] extends Date
    ? string
    : Row[Key] extends Date | null
      ? string | null
      : Row[Key];
};

interface State {
  readonly status: PasteUploadState | JobState;
  readonly gone: boolean;
  readonly expires_at: string | null;
  readonly progress: number | null;
  readonly progress_message: string | null;
  readonly row: unknown;
}

interface LookRow {
  readonly id: string;
  readonly kind: ExecutionKind;
  /** null: there is no such row any more. */
  readonly state: State | null;
  readonly transitions: readonly Json<SeenTransition>[];
  readonly postponed: boolean;
}

/**
 * Looks at any number of pastes and jobs in one statement. What isn't in the answer has been removed. Subqueries by id, rather than joins, and
 * `OFFSET 0`: whatever the statistics say, each is a look into an index, and never a scan of one table to be joined with the others. The size
 * of a row is known without reading it; rows get room in the order in which they are wanted.
 */
export async function lookAt(db: Database, wanted: readonly Wanted[]): Promise<ReadonlyMap<string, Seen>> {
  if (wanted.length === 0) return new Map();
  const columns = sql.join(publicPasteColumns.map((column) => sql.ref(`p.${column}`)));
  const { rows } = await sql<LookRow>`
    WITH asked AS MATERIALIZED (
      SELECT t.*, CASE WHEN t.kind = 'job' AND t.part <> 'never' THEN (
          SELECT ${bytesOf('j.parameters')} + ${bytesOf('j.result')} FROM jobs j
          WHERE j.id = t.id AND (t.part = 'always' OR j.status = ANY (${ends(job)}))
        ) END AS bytes
      FROM unnest(${wanted.map((w) => w.id)}::uuid[], ${wanted.map((w) => w.kind)}::text[], ${wanted.map((w) => w.after)}::bigint[],
        ${wanted.map((w) => w.row)}::text[]) WITH ORDINALITY AS t (id, kind, after, part, place)
    ), wanted AS MATERIALIZED (
      SELECT *, sum(bytes) OVER (ORDER BY place) - bytes < ${LONG_ROWS_BYTES} AS has_room FROM asked
    )
    SELECT w.id, w.kind, CASE w.kind WHEN 'upload' THEN (
        SELECT json_build_object('status', p.status, 'gone', x.gone, 'expires_at', p.expires_at, 'row',
          CASE WHEN w.part = 'always' OR w.part = 'at the end' AND p.status = ANY (${ends(pasteUpload)}) THEN
            (SELECT to_json(c) FROM (SELECT ${columns}, x.expired) AS c) END)
        FROM pastes p, LATERAL (SELECT coalesce(p.expires_at <= now(), false)) AS e (expired),
          LATERAL (SELECT e.expired, e.expired OR p.deletion_status <> 'NOT_EXPIRED') AS x (expired, gone)
        WHERE p.id = w.id
      ) ELSE (
        SELECT json_build_object('status', j.status, 'gone', false, 'progress', j.progress, 'progress_message', j.progress_message, 'row',
          CASE WHEN w.has_room THEN to_json(j) END)
        FROM jobs j WHERE j.id = w.id
      ) END AS state, w.has_room IS FALSE AS postponed,
      CASE WHEN w.after IS NULL THEN '[]' ELSE (
        SELECT coalesce(json_agg(t ORDER BY t.id), '[]') FROM (
          SELECT t.* FROM (
            SELECT w.id UNION ALL SELECT e.id FROM task_executions e WHERE e.subject_id = w.id AND e.kind = w.kind
          ) AS entity (id), LATERAL (SELECT * FROM state_transitions t WHERE t.entity = entity.id AND t.id > w.after OFFSET 0) AS t
          ORDER BY t.id LIMIT ${MOST_TRANSITIONS}::integer
        ) AS t
      ) END AS transitions
    FROM wanted w`.execute(db);
  return new Map(rows.flatMap((row) => (row.state === null ? [] : [[row.id, seen(row, row.state)]])));
}

/** No fewer than the JSON has, but for what it escapes. */
function bytesOf(column: string) {
  const reference = sql.ref(column);
  return sql`coalesce(pg_column_size(${reference})::bigint * CASE WHEN pg_column_compression(${reference}) IS NULL THEN 1 ELSE ${MOST_COMPRESSION} END, 0)`;
}

function ends(machine: typeof pasteUpload | typeof job) {
  const states: readonly string[] = statesOf<Machine>(machine).filter((state) =>
    isTerminal<Machine>(machine, state),
  );
  return sql`${states}::text[]`;
}

function seen({ id, kind, transitions, postponed }: LookRow, state: State): Seen {
  const { status, gone, expires_at: expiresAt, progress, progress_message: message, row } = state;
  return {
    id,
    status,
    settled: isTerminal<Machine>(kind === 'upload' ? pasteUpload : job, status),
    gone,
    expiresAt: toDate(expiresAt ?? null),
    progress: kind === 'job' ? { percent: progress ?? 0, message } : null,
    paste: kind === 'upload' && row !== null ? toPaste(row as Json<SeenPaste>) : null,
    job: kind === 'job' && row !== null ? toJob(row as Json<JobRow>) : null,
    transitions: transitions.map((each) => ({ ...each, at: new Date(each.at) })),
    complete: transitions.length < MOST_TRANSITIONS,
    postponed,
  };
}

function toPaste(row: Json<SeenPaste>): SeenPaste {
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
