import { sql, type RawBuilder } from 'kysely';
import { byActor, type Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import { storableText } from '../database/storable.ts';
import { opaqueState } from './opaque-state.ts';
import type { SettleableSubject, Settlement } from './settle.ts';
import type { StrandableSubject, Stranded } from './stranded.ts';

/** What becomes of stranded work: its last execution counts as lost, and the retry policy has decided the next step. */
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
  /** The column `user_id` of an execution, from `subject` (the paste or the job). */
  readonly executionOwner: RawBuilder<string | null>;
}

/**
 * Gives stranded work its next execution, or brings it to its end when the policy gives it up, in one statement.
 *
 * The statement locks the pastes or jobs, and then looks again for an open execution, with a snapshot of its own: of two rescues, one
 * inserts an execution and the other one does nothing. Everything that ends work changes the locked row. Rows that another session has
 * locked are skipped, so the locks need no order; the next run finds the rows again.
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
      SELECT subject.id, ${subject.executionOwner} AS user_id FROM ${sql.table(subject.table)} subject
      WHERE subject.id IN (SELECT subject_id FROM decided) AND ${opaqueState('subject')} IN (${sql.join(subject.openStates)})
      FOR NO KEY UPDATE SKIP LOCKED
    ), ended AS MATERIALIZED (
      SELECT decided.*, locked.user_id FROM locked JOIN decided ON decided.subject_id = locked.id
      WHERE NOT has_open_execution(${sql.lit(subject.kind)}, locked.id)
    ), successor AS (
      INSERT INTO task_executions (kind, subject_id, user_id, attempt, losses, run_at, rescued_by, rescue_reason)
      SELECT ${sql.lit(subject.kind)}, subject_id, user_id, next_attempt, losses, now() + make_interval(secs => delay_ms / 1000), ${actor}, reason
      FROM ended WHERE next_attempt IS NOT NULL
      ON CONFLICT DO NOTHING
      RETURNING id, subject_id
    )${subject.onEnd}
    SELECT ended.subject_id AS "subjectId", successor.id AS "successorId", coalesce(settled.status, ${subject.openState}) AS status
    FROM ended LEFT JOIN successor ON successor.subject_id = ended.subject_id LEFT JOIN settled ON settled.id = ended.subject_id
    WHERE successor.id IS NOT NULL OR settled.id IS NOT NULL`.execute(db);
  return new Map(rows.map((row) => [row.subjectId, row]));
}
