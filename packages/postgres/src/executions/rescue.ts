import { storedReason, type AttemptCount } from '@pasteflow/domain';
import { sql, type RawBuilder } from 'kysely';
import { byActor, type Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import { storableText } from '../database/storable.ts';
import { opaqueState } from '../database/planner.ts';
import type { SearchableSubject } from './search.ts';
import { furtherColumns, type SettleableSubject, type Settlement } from './settle.ts';

/**
 * Work that is not at its end and has no open execution, so that no process will go on with it. Only plain
 * SQL can strand work.
 */
export interface Stranded extends AttemptCount {
  readonly subjectId: string;
  /** Its last execution, or null when it has none. */
  readonly executionId: string | null;
  /** What became of that execution, as a stored reason of the class `stranded`. */
  readonly reason: string;
}

/** What the search for stranded work needs to know about uploads or jobs. */
export interface Strandable extends SearchableSubject {
  /** The states that are not terminal. */
  readonly openStates: readonly string[];
  /**
   * A SELECT of `id`: the oldest pastes or jobs that may be in an open state, up to `limit`, from the start
   * of an index.
   */
  selectOldestOpen(limit: number): RawBuilder<unknown>;
}

export interface StrandableSubject<Named> extends Strandable {
  /** The state of a subject with an open execution that runs or has run. */
  readonly openState: string;
  /** The columns that name the upload or the job, from `subject` (the paste or the job). */
  readonly nameColumns: RawBuilder<Named>;
}

/**
 * Searches look at so much of the oldest open work. Stranded work becomes the oldest, because all other work
 * ends.
 */
const OLDEST = 1000;

/**
 * The CTE `stranded` (id): those of `candidates`, a SELECT of `id`, that are stranded. Paste or job and
 * execution are committed together, and so are the end of an execution and its successor: one snapshot sees
 * work without an open execution only when it is stranded.
 */
function strandedAmong(
  { kind, table, openStates }: Strandable,
  candidates: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`candidate AS MATERIALIZED (
      SELECT id FROM (${candidates}) AS work LEFT JOIN LATERAL (
        SELECT true AS exists FROM task_executions e
        WHERE e.subject_id = work.id AND e.kind = ${sql.lit(kind)} AND ${opaqueState('e')} IN ('PENDING', 'RUNNING') LIMIT 1
      ) AS open_execution ON true
      WHERE open_execution.exists IS NULL
    ), stranded AS MATERIALIZED (
      SELECT subject.id FROM candidate JOIN ${sql.table(table)} subject ON subject.id = candidate.id
      WHERE ${opaqueState('subject')} IN (${sql.join(openStates)})
    )`;
}

/** The CTE `stranded` (id) of the oldest open work. */
export function strandedAmongOldest(subject: Strandable): RawBuilder<unknown> {
  return strandedAmong(subject, subject.selectOldestOpen(OLDEST));
}

/** Where to search for stranded work: among the oldest open work, or among these pastes or jobs. */
export type StrandedAmong = 'oldest' | { readonly ids: readonly string[] };

/** Stranded work, at most `limit`. */
export async function findStranded<Named>(
  db: Database,
  subject: StrandableSubject<Named>,
  among: StrandedAmong,
  limit: number,
): Promise<readonly (Stranded & Named)[]> {
  const stranded =
    among === 'oldest'
      ? strandedAmongOldest(subject)
      : strandedAmong(subject, sql`SELECT unnest(${among.ids}::uuid[]) AS id`);
  const { rows } = await sql<Stranded & Named>`
    WITH ${stranded}
    SELECT subject.id AS "subjectId", last.id AS "executionId", coalesce(last.attempt, 1) AS attempt, ${subject.nameColumns},
      CASE WHEN subject.status = ${subject.openState} THEN coalesce(last.losses, 0) ELSE 0 END AS losses,
      ${storedReason('stranded', 'no open execution; ')} || CASE WHEN last.id IS NULL THEN 'it never had one'
        ELSE 'the last one ended ' || last.status || coalesce(': ' || left(last.error, 200), '') END AS reason
    FROM stranded JOIN ${sql.table(subject.table)} subject USING (id) LEFT JOIN LATERAL (
      SELECT e.* FROM task_executions e WHERE e.subject_id = stranded.id AND e.kind = ${sql.lit(subject.kind)}
      ORDER BY e.created_at DESC, e.id DESC LIMIT 1
    ) AS last ON true
    ORDER BY subject.id LIMIT ${limit}`.execute(db);
  return rows;
}

/**
 * What becomes of stranded work: its last execution counts as lost, and the retry policy has decided the next
 * step.
 */
export interface Rescue<Ending extends Settlement> {
  readonly stranded: Stranded;
  readonly ending: Ending;
}

/** A rescue that took effect. */
export interface Rescued<State extends string = string> {
  readonly subjectId: string;
  /** null: no attempt follows, and the work has ended. */
  readonly successorId: string | null;
  readonly status: State;
}

export interface RescuableSubject {
  /** Columns of an execution that only this kind of work has, from `subject` (the paste, the job or the delivery). */
  readonly executionColumns: Readonly<Record<string, RawBuilder<unknown>>>;
}

/**
 * Gives stranded work its next execution, or brings it to its end when the policy gives it up, in one
 * statement.
 *
 * The statement locks the pastes or jobs, and then looks again for an open execution, with a snapshot of its
 * own: of two rescues, one inserts an execution and the other one does nothing. Everything that ends work
 * changes the locked row. Rows that another session has locked are skipped, so the locks need no order; the
 * next run finds the rows again.
 * @returns the rescues that took effect, by the id of the paste or the job
 */
export async function rescueStranded<Named, Ending extends Settlement, State extends string>(
  db: Database,
  subject: StrandableSubject<Named> & SettleableSubject<Ending, State> & RescuableSubject,
  rescues: readonly Rescue<Ending>[],
  actor: Actor,
): Promise<ReadonlyMap<string, Rescued<State>>> {
  if (rescues.length === 0) return new Map();
  const steps = rescues.map(({ ending }) => ending.nextStep);
  const own = Object.entries(subject.endingColumns(rescues.map(({ ending }) => ending)));
  const columns = Object.entries(subject.executionColumns);
  const further = furtherColumns(Object.fromEntries(columns.map(([name]) => [name, sql.id('ended', name)])));
  const { rows } = await sql<Rescued<State>>`
    WITH ${byActor(actor)},
    decided AS MATERIALIZED (
      SELECT t.* FROM unnest(
        ${rescues.map(({ stranded }) => stranded.subjectId)}::uuid[],
        ${rescues.map(({ stranded }) => storableText(stranded.reason))}::text[],
        ${rescues.map(({ stranded }) => stranded.losses + 1)}::integer[],
        ${steps.map((step) => (step.kind === 'retry' ? step.attempt : null))}::integer[],
        ${steps.map((step) => (step.kind === 'retry' ? step.delayMs : null))}::float8[],
        ${steps.map((step) => (step.kind === 'give_up' ? storableText(step.reason) : null))}::text[],
        ${sql.join(own.map(([, values]) => sql`${values}::text[]`))}
      ) AS t (subject_id, reason, losses, next_attempt, delay_ms, give_up_reason, ${sql.join(own.map(([name]) => sql.id(name)))}), actor
    ), locked AS MATERIALIZED (
      SELECT subject.id${sql.join(
        columns.map(([name, value]) => sql`, ${value} AS ${sql.id(name)}`),
        sql``,
      )} FROM ${sql.table(subject.table)} subject
      WHERE subject.id IN (SELECT subject_id FROM decided) AND ${opaqueState('subject')} IN (${sql.join(subject.openStates)})
      FOR NO KEY UPDATE SKIP LOCKED
    ), ended AS MATERIALIZED (
      SELECT decided.*${sql.join(
        columns.map(([name]) => sql`, locked.${sql.id(name)}`),
        sql``,
      )} FROM locked JOIN decided ON decided.subject_id = locked.id
      WHERE NOT has_open_execution(${sql.lit(subject.kind)}, locked.id)
    ), successor AS (
      INSERT INTO task_executions (kind, subject_id, attempt, losses, run_at, rescued_by, rescue_reason${further.names})
      SELECT ${sql.lit(subject.kind)}, subject_id, next_attempt, losses, now() + make_interval(secs => delay_ms / 1000), ${actor}, reason${further.values}
      FROM ended WHERE next_attempt IS NOT NULL
      ON CONFLICT DO NOTHING
      RETURNING id, subject_id
    )${subject.onEnd}
    SELECT ended.subject_id AS "subjectId", successor.id AS "successorId", coalesce(settled.status, ${subject.openState}) AS status
    FROM ended LEFT JOIN successor ON successor.subject_id = ended.subject_id LEFT JOIN settled ON settled.id = ended.subject_id
    WHERE successor.id IS NOT NULL OR settled.id IS NOT NULL`.execute(db);
  return new Map(rows.map((row) => [row.subjectId, row]));
}
